#include "planner/bind/written_definition.h"

#include <algorithm>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/ast_walk.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/function_body.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/policy_condition.h"
#include "planner/bind/sql_function.h"
#include "planner/bind/trigger_condition.h"
#include "sql/error.h"
#include "sql/functions/object_names.h"
#include "sql/system_tables/relations.h"

namespace redquel::planner {

namespace ast = parser::ast;
using parser::QueryLayout;
using sql::SqlError;

namespace {

using SearchPath = std::vector<std::string>;

/// A type's name, with its schema where the search path does not find it.
std::string visible_name(const sql::UserType& type, const sql::CatalogSnapshot& catalog, const SearchPath& search_path) {
  const auto found = catalog.find_user_type("", type.name, search_path);
  const std::string schema = found && found->oid == type.oid ? "" : parser::quote_identifier(type.schema) + ".";
  return schema + parser::quote_identifier(type.name);
}

/// Like visible_type() above, for a text of format_type(): of a type, or of an array of it.
std::string visible_type(const std::string& shown, const sql::CatalogSnapshot& catalog, const SearchPath& search_path) {
  for (const auto& [oid, type] : catalog.types) {
    const std::string name = sql::format_type(sql::Type{oid});
    if (!shown.starts_with(name) || (shown.size() != name.size() && shown.substr(name.size()) != "[]")) continue;
    return visible_name(*type, catalog, search_path) + shown.substr(name.size());
  }
  return shown;
}

/// Returns the names of the uses in this search path: objects, and the types of literals and casts.
parser::QueryNames visible_names(const NameUses& uses, const sql::CatalogSnapshot& catalog, const SearchPath& search_path) {
  parser::QueryNames names = uses.names_in(catalog);
  sql::EvaluationContext context;
  context.catalog = &catalog;
  context.search_path = search_path;
  for (const auto& [offset, object] : uses.objects) names.literals[offset].text = sql::object_name(object.first, object.second, context);
  for (auto& [offset, literal] : names.literals) literal.type = visible_type(literal.type, catalog, search_path);
  for (auto& [cast, type] : names.cast_types) type.name = visible_type(type.name, catalog, search_path);
  for (auto& [offset, type] : names.casts) type = visible_type(type, catalog, search_path);
  for (auto& [list, type] : names.array_casts) type = visible_type(type, catalog, search_path);
  for (auto& [choice, type] : names.case_types) type = visible_type(type, catalog, search_path);
  return names;
}

/// Binds the expression in `text` by `bind(expression, settings)` and writes what it means; `column`: what stands for its columns.
template <class Bind>
std::string written(const std::string& text, const std::string& schema, const sql::CatalogSnapshot& catalog, BindSettings settings,
                    QueryLayout layout, const std::optional<std::string>& column, const Bind& bind) {
  const SearchPath search_path = settings.search_path;
  NameUses uses;
  settings = for_stored_text(std::move(settings), schema, catalog);
  settings.names = &uses;
  try {
    const ast::ExpressionPtr parsed = parser::parse_expression(text);
    bind(*parsed, settings);
    parser::QueryNames names = visible_names(uses, catalog, search_path);
    if (column) {
      for (auto& [reference, name] : names.columns) name = {*column};
    } else {
      names.columns.clear();  // there is one table: its name says nothing
    }
    return sql::with_visible_names(catalog, parser::to_sql(*parsed, names, layout), search_path);
  } catch (const SqlError&) {
    return text;
  }
}

/// Gives columns of the table outside of subqueries their own names alone.
void name_own_columns(const ast::Expression& expression, parser::QueryNames& names) {
  if (const auto* column = std::get_if<ast::ColumnRef>(&expression.node)) {
    const auto found = names.columns.find(column);
    if (found != names.columns.end()) found->second = {found->second.back()};
  }
  for_each_child(expression, [&](const ast::Expression& child) { name_own_columns(child, names); });
}

/// A policy's expression. Columns in its subqueries are shown with their relations.
std::string written_policy(const std::string& text, const sql::TableDef& table, const sql::CatalogSnapshot& catalog, BindSettings settings,
                           QueryLayout layout) {
  const SearchPath search_path = settings.search_path;
  NameUses uses;
  settings = for_stored_text(std::move(settings), table.schema, catalog);
  settings.names = &uses;
  try {
    const ast::ExpressionPtr parsed = parser::parse_expression(text);
    note_policy_names(*parsed, table, catalog, std::move(settings));
    parser::QueryNames names = visible_names(uses, catalog, search_path);
    name_own_columns(*parsed, names);
    return sql::with_visible_names(catalog, parser::to_sql(*parsed, names, layout), search_path);
  } catch (const SqlError&) {
    return text;
  }
}

/// The condition of a trigger. Columns are shown with the row that they are of.
std::string written_trigger(const std::string& text, const sql::TableDef& table, const sql::CatalogSnapshot& catalog, BindSettings settings,
                            QueryLayout layout) {
  const SearchPath search_path = settings.search_path;
  NameUses uses;
  settings = for_stored_text(std::move(settings), table.schema, catalog);
  settings.names = &uses;
  try {
    const ast::ExpressionPtr parsed = parser::parse_expression(text);
    note_trigger_names(*parsed, table, catalog, std::move(settings));
    return sql::with_visible_names(catalog, parser::to_sql(*parsed, visible_names(uses, catalog, search_path), layout), search_path);
  } catch (const SqlError&) {
    return text;
  }
}

/// Result columns without a name need none in a body.
void drop_default_names(const ast::Select& query, parser::QueryNames& names) {
  if (query.set_operator != ast::SetOperator::kNone) return drop_default_names(*query.left, names);
  for (const ast::Target& target : query.targets) {
    const auto name = names.targets.find(&target);
    if (name != names.targets.end() && name->second == "?column?") names.targets.erase(name);
  }
}

std::size_t width_of(const ast::Insert& insert, const parser::QueryNames& names) {
  if (!insert.source->values.empty()) return insert.source->values[0].size();
  std::size_t width = 0;
  for (const ast::Target& target : insert.source->targets) {
    const auto* column = std::get_if<ast::ColumnRef>(&target.value->node);
    const auto star = column == nullptr ? names.stars.end() : names.stars.find(column);
    width += star == names.stars.end() ? 1 : star->second.size();
  }
  return width;
}

/// The table that a statement writes to, and the columns that it names there.
struct WrittenTarget {
  const ast::RelationName* relation = nullptr;  // null: it writes to none
  const ast::Insert* insert = nullptr;
  std::vector<const ast::AssignmentTarget*> columns;

  void add(const std::vector<ast::Assignment>& assignments) {
    for (const ast::Assignment& assignment : assignments) {
      for (const ast::AssignmentTarget& target : assignment.targets) columns.push_back(&target);
    }
  }
};

WrittenTarget target_of(const ast::Statement& statement) {
  WrittenTarget target;
  if (const auto* insert = std::get_if<ast::Insert>(&statement.node)) {
    target.relation = &insert->relation;
    target.insert = insert;
    for (const ast::AssignmentTarget& column : insert->columns) target.columns.push_back(&column);
    if (insert->on_conflict) target.add(insert->on_conflict->assignments);
  } else if (const auto* update = std::get_if<ast::Update>(&statement.node)) {
    target.relation = &update->relation.name;
    target.add(update->assignments);
  } else if (const auto* rows = std::get_if<ast::Delete>(&statement.node)) {
    target.relation = &rows->relation.name;
  }
  return target;
}

/// Adds the names that binding does not collect: the written table and its columns in `after`.
void name_target(const WrittenTarget& target, const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& after,
                 const SearchPath& search_path, parser::QueryNames& names) {
  if (target.relation == nullptr) return;
  const auto written = before.find_table(target.relation->schema, target.relation->name, search_path);
  const auto table = written ? after.find_table(written->oid) : nullptr;
  if (!table) return;
  ast::RelationName known;
  known.schema = table->schema;
  known.name = table->name;
  names.relations[target.relation] = std::move(known);
  for (const ast::AssignmentTarget* assigned : target.columns) {
    const auto found = std::ranges::find(written->columns, assigned->column, &sql::ColumnDef::name);
    const sql::ColumnDef* column = found == written->columns.end() ? nullptr : table->find_column(found->number);
    if (column != nullptr) names.assigned[assigned] = column->name;
  }
  if (target.insert == nullptr || !target.insert->columns.empty() || !target.insert->source) return;
  const std::size_t width = width_of(*target.insert, names);
  std::vector<std::string>& columns = names.insert_columns[target.insert];
  for (const sql::ColumnDef& column : table->columns) {
    if (!column.hidden && columns.size() < width) columns.push_back(column.name);
  }
}

/// A parameter of a statement that writes always has the function's name: the table's columns are in sight.
void qualify_parameters(const sql::FunctionDef& function, NameUses& uses) {
  for (auto& [reference, use] : uses.parameters) use.relation = function.name;
  for (auto& [reference, use] : uses.columns) {
    if (use.is_parameter) use.relation = function.name;
  }
}

/// Binds a statement of the function's body; `settings` are those of the stored text then.
void bind_in_body(const sql::FunctionDef& function, const ast::Statement& statement, const sql::CatalogSnapshot& catalog,
                  BindSettings& settings, NameUses& uses) {
  std::vector<sql::Type> declared;
  for (const sql::FunctionDef::Parameter& parameter : function.parameters) declared.push_back(parameter.type);
  settings = for_stored_text(std::move(settings), function.schema, catalog);
  settings.names = &uses;
  settings.function = concrete_function(catalog, std::make_shared<const sql::FunctionDef>(function), declared);
  planner::bind(statement, catalog, declared, settings);
}

std::string written_statement(const sql::FunctionDef& function, const ast::Statement& statement, const sql::CatalogSnapshot& catalog,
                              BindSettings settings, QueryLayout layout) {
  const SearchPath search_path = settings.search_path;
  NameUses uses;
  bind_in_body(function, statement, catalog, settings, uses);
  const auto* query = std::get_if<ast::Select>(&statement.node);
  if (query == nullptr) qualify_parameters(function, uses);
  parser::QueryNames names = visible_names(uses, catalog, search_path);
  if (query != nullptr) drop_default_names(*query, names);
  name_target(target_of(statement), catalog, catalog, settings.search_path, names);
  if (layout == QueryLayout::kLine) return parser::to_sql(*query->targets.at(0).value, names, layout);
  return parser::to_sql(statement, names, layout);
}

/// 'x', also with a type: interval 'x', 'x'::interval.
bool is_literal(const ast::Expression& expression) {
  const auto* cast = std::get_if<ast::TypeCast>(&expression.node);
  return cast != nullptr ? is_literal(*cast->argument) : std::holds_alternative<ast::StringLiteral>(expression.node);
}

}  // namespace

std::string written_expression(const std::string& text, const sql::TableDef& table, const sql::CatalogSnapshot& catalog,
                               BindSettings settings, bool pretty) {
  if (is_policy_condition(table, text)) {
    return written_policy(text, table, catalog, std::move(settings), pretty ? QueryLayout::kPretty : QueryLayout::kPlain);
  }
  if (is_trigger_condition(table, text)) {
    return written_trigger(text, table, catalog, std::move(settings), pretty ? QueryLayout::kPretty : QueryLayout::kPlain);
  }
  std::vector<ColumnId> ids;
  for (std::size_t i = 0; i < table.columns.size(); ++i) ids.push_back(static_cast<ColumnId>(i));
  return written(text, table.schema, catalog, std::move(settings), pretty ? QueryLayout::kPretty : QueryLayout::kPlain, std::nullopt,
                 [&](const ast::Expression& parsed, const BindSettings& own) { bind_column_expression(parsed, table, ids, catalog, own); });
}

std::string written_default(const std::string& text, sql::Type type, const std::string& schema, const sql::CatalogSnapshot& catalog,
                            BindSettings settings) {
  sql::ColumnDef column;
  column.type = type;
  return written(text, schema, catalog, std::move(settings), QueryLayout::kPlain, std::nullopt,
                 [&](const ast::Expression& parsed, const BindSettings& own) {
                   bind_default(parsed, {}, column, catalog, own);
                   // A lone interval gets the column's fields and precision, regardless of its own.
                   if (type.oid != sql::oid::kInterval || !is_literal(parsed)) return;
                   for (auto& [offset, literal] : own.names->literals) literal.type = type_in_words(type);
                   for (auto& [cast, written_type] : own.names->cast_types) written_type.name = type_in_words(type);
                 });
}

std::string written_domain_check(const std::string& text, const sql::UserType& domain, const sql::CatalogSnapshot& catalog,
                                 BindSettings settings, bool pretty) {
  constexpr std::string_view kMark = "\4";  // no name of the user's
  sql::TableDef row;
  row.schema = domain.schema;
  row.columns.push_back({.number = 1, .name = "value", .type = domain.base});
  std::string shown = written(text, domain.schema, catalog, std::move(settings), pretty ? QueryLayout::kPretty : QueryLayout::kPlain,
                              std::string(kMark), [&](const ast::Expression& parsed, const BindSettings& own) {
                                bind_column_expression(parsed, row, {0}, catalog, own);
                              });
  const std::string quoted = parser::quote_identifier(kMark);
  // A value of a domain over a domain is first made one of the type under both, unless only NULL is asked for.
  const std::string base = "::" + type_in_words(sql::Type{domain.base.oid});
  const std::string converted = domain.base_domain == 0 ? "VALUE" : pretty ? "VALUE" + base : "(VALUE)" + base;
  for (std::size_t at = shown.find(quoted); at != std::string::npos; at = shown.find(quoted)) {
    const std::string_view behind = std::string_view(shown).substr(at + quoted.size());
    const bool stays = behind.starts_with(" IS ") || behind.starts_with("::") || behind.starts_with(")::");
    shown.replace(at, quoted.size(), stays ? "VALUE" : converted);
  }
  return shown;
}

std::string written_body(const sql::FunctionDef& function, const sql::CatalogSnapshot& catalog, BindSettings settings) {
  std::string text = function.atomic_body ? "BEGIN ATOMIC" : "";
  const std::vector<BodyStatement> statements = parse_function_body(function);
  for (const BodyStatement& one : statements) {
    std::string shown;
    try {
      shown = written_statement(function, *one.statement, catalog, settings, function.atomic_body ? QueryLayout::kPlain : QueryLayout::kLine);
    } catch (const SqlError&) {
      shown = function.atomic_body ? " " + one.text : one.text.substr(std::string_view("SELECT ").size());
    }
    text += function.atomic_body ? "\n" + shown + ";" : "RETURN " + shown;
  }
  return function.atomic_body ? text + "\nEND" : text;
}

std::vector<sql::ViewDef::Reference> body_references(const sql::FunctionDef& function, const sql::CatalogSnapshot& catalog,
                                                     BindSettings settings) {
  std::vector<sql::ViewDef::Reference> references;
  for (const BodyStatement& one : parse_function_body(function)) {
    NameUses uses;
    BindSettings own = settings;
    try {
      bind_in_body(function, *one.statement, catalog, own, uses);
    } catch (const SqlError&) {
      continue;
    }
    const std::vector<sql::ViewDef::Reference> found = uses.references();
    references.insert(references.end(), found.begin(), found.end());
    const ast::RelationName* target = target_of(*one.statement).relation;
    const auto table = target == nullptr ? nullptr : catalog.find_table(target->schema, target->name, own.search_path);
    if (table) references.push_back({table->oid, {}});
  }
  return references;
}

void rename_in_body(sql::FunctionDef& function, const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& after) {
  std::string body;
  for (const BodyStatement& one : parse_function_body(function)) {
    NameUses uses;
    BindSettings settings;
    bind_in_body(function, *one.statement, before, settings, uses);
    parser::QueryNames names = uses.names_in(after);
    names.targets.clear();  // as they were written
    name_target(target_of(*one.statement), before, after, settings.search_path, names);
    body += (body.empty() ? "" : ";\n") + parser::to_sql(*one.statement, names, QueryLayout::kCompact);
  }
  function.body = std::move(body);
}

}  // namespace redquel::planner
