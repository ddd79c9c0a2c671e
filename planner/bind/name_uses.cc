#include "planner/bind/name_uses.h"

#include <algorithm>

#include "sql/system_tables.h"
#include "sql/types/array_value.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

namespace ast = parser::ast;

namespace {

/// The column's name as it is now.
std::string name_in(const sql::CatalogSnapshot& catalog, const NameUses::Column& use) {
  if (use.oid == 0 || use.number == 0) return use.name;
  if (const auto table = catalog.find_table(use.oid)) {
    const sql::ColumnDef* column = table->find_column(use.number);
    return column == nullptr ? use.name : column->name;
  }
  const auto view = catalog.find_view(use.oid);
  const auto position = static_cast<std::size_t>(use.number) - 1;
  return view && position < view->columns.size() ? view->columns[position].name : use.name;
}

std::string relation_name(const sql::CatalogSnapshot& catalog, const NameUses::Column& use) {
  if (!use.aliased && use.oid != 0) {
    if (const auto table = catalog.find_table(use.oid)) return table->name;
    if (const auto view = catalog.find_view(use.oid)) return view->name;
  }
  return use.relation;
}

ast::QualifiedName qualified(const sql::CatalogSnapshot& catalog, const NameUses::Column& use) {
  ast::QualifiedName names;
  if (!use.relation.empty()) names.push_back(relation_name(catalog, use));
  names.push_back(name_in(catalog, use));
  return names;
}

/// Functions show the names of their columns; other items where an alias has given some.
bool shows_columns(const ast::FromItem& item, const NameUses::Source& source) {
  const auto has_columns = [](const std::optional<ast::Alias>& alias) { return alias && !alias->columns.empty(); };
  if (const auto* function = std::get_if<ast::FunctionRef>(&item.node)) return function->columns.empty();
  if (const auto* table = std::get_if<ast::TableRef>(&item.node)) {
    if (!has_columns(table->alias)) return false;
    return source.name.oid == 0 || std::ranges::any_of(source.columns, [](const NameUses::Column& use) { return use.number == 0; });
  }
  const auto* subquery = std::get_if<ast::SubqueryRef>(&item.node);
  return subquery != nullptr && has_columns(subquery->alias);
}

}  // namespace

NameUses::Column NameUses::own_column(const Relation& relation, std::size_t position) const {
  Column use{.name = relation.columns[position].name};
  // A join without an alias has no name: its columns are called by their own alone.
  if (relation.is_join && !relation.aliased) return use;
  const auto owner = owners.find(&relation);
  if (owner != owners.end()) use.owner = owner->second;
  use.relation = relation.name;
  use.aliased = relation.aliased;
  if (relation.table) {
    use.oid = relation.table->oid;
    const sql::ColumnDef& column = relation.table->columns[position];
    use.number = column.name == use.name ? column.number : std::int16_t{0};
  } else if (relation.view) {
    use.oid = relation.view->oid;
    use.number = relation.view->columns[position].name == use.name ? static_cast<std::int16_t>(position + 1) : std::int16_t{0};
  }
  return use;
}

NameUses::Column NameUses::column_use(const Relation& relation, std::size_t position, const QueryLevel& level) const {
  const bool is_merged = relation.is_join && (!relation.aliased || !owners.contains(&relation));  // also the alias of a USING clause
  if (is_merged) {
    for (const RelationPtr& side : level.range_table) {
      if (side->is_join && !side->aliased) continue;
      for (std::size_t i = 0; i < side->columns.size(); ++i) {
        if (sql::equal(*side->columns[i].value, *relation.columns[position].value)) return own_column(*side, i);
      }
    }
  }
  return own_column(relation, position);
}

void NameUses::note_source(const ast::FromItem& item, const RelationPtr& relation, bool is_lateral) {
  owners[relation.get()] = &item;
  Source& source = sources[&item];
  source = {.relation = relation, .is_lateral = is_lateral};
  if (relation->is_join && !relation->aliased) return;
  const sql::Oid oid = relation->table ? relation->table->oid : relation->view ? relation->view->oid : 0;
  source.name = {.relation = relation->name, .aliased = relation->aliased, .oid = oid};
  for (std::size_t i = 0; i < relation->columns.size(); ++i) source.columns.push_back(own_column(*relation, i));
}

void NameUses::note_column(const ast::ColumnRef& reference, const Relation& relation, std::string_view name, const QueryLevel& level) {
  const auto found = std::ranges::find(relation.columns, name, &RelationColumn::name);
  if (found != relation.columns.end()) {
    columns[&reference] = column_use(relation, static_cast<std::size_t>(found - relation.columns.begin()), level);
    return;
  }
  const auto owner = owners.find(&relation);
  if (owner == owners.end()) return;
  Column use = sources.at(owner->second).name;  // a system column
  use.name = name;
  use.owner = owner->second;
  columns[&reference] = use;
}

void NameUses::note_star(const ast::ColumnRef& star, const Relation& relation, const QueryLevel& level) {
  for (std::size_t i = 0; i < relation.columns.size(); ++i) stars[&star].push_back(column_use(relation, i, level));
}

void NameUses::note_row(const ast::ColumnRef& row, const Relation& relation) {
  const sql::Oid oid = relation.table ? relation.table->oid : relation.view ? relation.view->oid : 0;
  const auto owner = owners.find(&relation);
  rows[&row] = Column{.relation = relation.name, .aliased = relation.aliased, .name = {}, .oid = oid,
                      .owner = owner == owners.end() ? nullptr : owner->second};
}

NameUses::Column NameUses::parameter_use(const sql::FunctionDef& function, std::string_view parameter, bool with_columns) {
  return {.relation = with_columns ? function.name : "", .aliased = true, .name = std::string(parameter), .is_parameter = true};
}

parser::QueryNames NameUses::names_in(const sql::CatalogSnapshot& catalog) const {
  parser::QueryNames names;
  for (const auto& [reference, use] : columns) {
    names.columns[reference] = qualified(catalog, use);
    if (use.owner != nullptr) names.owners[reference] = use.owner;
    if (use.is_parameter) names.parameter_columns.insert(reference);
  }
  // A whole row as a value is a star of one nameless thing, the relation.
  for (const auto& [row, use] : rows) names.stars[row] = {{{relation_name(catalog, use)}, "", use.owner}};
  for (const auto& [star, uses] : stars) {
    for (const Column& use : uses) names.stars[star].push_back({qualified(catalog, use), use.name, use.owner});
  }
  for (const auto& [item, source] : sources) {
    parser::QueryNames::Source& shown = names.sources[item];
    shown = {.name = relation_name(catalog, source.name), .columns = {}, .is_lateral = source.is_lateral};
    if (!shows_columns(*item, source)) continue;
    for (const Column& use : source.columns) shown.columns.push_back(name_in(catalog, use));
  }
  names.natural_columns = natural_columns;
  names.array_casts = array_casts;
  names.case_types = case_types;
  names.sort_positions = sort_positions;
  for (const auto& [relation, oid] : relations) {
    ast::RelationName name = *relation;
    name.catalog.clear();
    if (const auto table = catalog.find_table(oid)) {
      name.schema = table->schema, name.name = table->name;
    } else if (const auto view = catalog.find_view(oid)) {
      name.schema = view->schema, name.name = view->name;
    } else if (const sql::SystemTable* system = sql::find_system_table(oid)) {
      name.schema = system->schema, name.name = system->name;
    }
    names.relations[relation] = std::move(name);
  }
  for (const auto& [call, oid] : functions) {
    const auto function = catalog.functions.find(oid);
    if (function != catalog.functions.end()) names.functions[call] = {function->second->schema, function->second->name};
  }
  names.targets = targets;
  names.literals = literals;
  names.casts = casts;
  names.cast_types = cast_types;
  for (const auto& [reference, use] : parameters) names.parameters[reference] = qualified(catalog, use);
  return names;
}

std::string type_in_words(sql::Type type) {
  const bool is_array = sql::is_array_type(type.oid);
  const sql::Oid base = is_array ? sql::type_info(type.oid).element : type.oid;
  if (type.modifier >= 0 || (base != sql::oid::kBpchar && base != sql::oid::kBit)) return sql::format_type(type);
  return std::string(base == sql::oid::kBit ? "\"bit\"" : "bpchar") + (is_array ? "[]" : "");
}

std::vector<sql::ViewDef::Reference> NameUses::references() const {
  std::map<sql::Oid, std::vector<std::int16_t>> found;
  const auto note = [&](const Column& use) {
    if (use.oid == 0 || use.number == 0) return;
    std::vector<std::int16_t>& numbers = found[use.oid];
    if (std::ranges::find(numbers, use.number) == numbers.end()) numbers.push_back(use.number);
  };
  for (const auto& [relation, oid] : relations) {
    if (sql::find_system_table(oid) == nullptr) found[oid];
  }
  for (const auto& [call, oid] : functions) found[oid];
  for (const sql::Oid function : operators) found[function];
  for (const sql::Oid key : keys) found[key];
  for (const auto& [reference, use] : columns) note(use);
  for (const auto& [star, uses] : stars) std::ranges::for_each(uses, note);
  std::vector<sql::ViewDef::Reference> references;
  for (auto& [oid, numbers] : found) {
    std::ranges::sort(numbers);
    references.push_back({oid, std::move(numbers)});
  }
  return references;
}

}  // namespace redquel::planner
