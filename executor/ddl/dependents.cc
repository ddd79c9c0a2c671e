#include "executor/ddl/dependents.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/extension.h"
#include "executor/ddl/foreign_key_definition.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/partition.h"
#include "executor/ddl/table_alteration.h"
#include "parser/deparse.h"
#include "planner/bind/sql_function.h"
#include "sql/catalog/counterparts.h"
#include "sql/extensions/extension.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;
using Kind = DropObject::Kind;

namespace {

/// The table that has the index, and the index's name.
std::pair<TablePtr, std::string> find_index_by_oid(const CatalogDraft& draft, sql::Oid index) {
  for (const auto& [oid, table] : draft.catalog().tables) {
    if (table->primary_key_index.oid == index) return {table, table->primary_key_index.name};
    const auto found = std::ranges::find(table->indexes, index, &sql::IndexDef::oid);
    if (found != table->indexes.end()) return {table, found->name};
  }
  return {};
}

struct Found {
  DropObject object, because;
};

void collect(const CatalogDraft& draft, const DropObject& object, const std::vector<DropObject>& targets, std::vector<Found>& found) {
  if (object.kind == Kind::kExtension) {  // what depends on its members
    for (const auto& [oid, function] : draft.catalog().functions) {
      if (function->extension == object.oid) collect(draft, {Kind::kFunction, oid}, targets, found);
    }
    const sql::Extension* extension = sql::find_extension(draft.catalog().extensions.at(object.oid).name);
    if (extension == nullptr) return;
    for (const sql::Oid type : extension->types) collect(draft, {Kind::kType, type}, targets, found);
    return;
  }
  for (const DropObject& dependent : direct_dependents(draft, object)) {
    const bool is_known = std::ranges::find(targets, dependent) != targets.end() ||
                          std::ranges::find(found, dependent, &Found::object) != found.end();
    // A default, column, CHECK, policy or trigger goes with its table or view.
    const bool is_part = dependent.kind == Kind::kDefault || dependent.kind == Kind::kColumn || dependent.kind == Kind::kCheck ||
                         dependent.kind == Kind::kPolicy || dependent.kind == Kind::kTrigger;
    const auto is_target = [&](Kind kind) { return std::ranges::find(targets, DropObject{kind, dependent.oid}) != targets.end(); };
    const bool goes_anyway = is_part && (is_target(Kind::kTable) || is_target(Kind::kView));
    if (is_known || goes_anyway) continue;
    // A constraint stands on its index, and that is what foreign keys need.
    const bool by_index = object.kind == Kind::kKeyConstraint && dependent.kind == Kind::kForeignKey;
    found.push_back({dependent, by_index ? DropObject{Kind::kIndex, object.oid} : object});
    collect(draft, dependent, targets, found);
  }
}

void drop_column(CatalogDraft& draft, const DropObject& object) {
  const auto table = draft.catalog().find_table(object.oid);
  if (!table || table->find_column(object.column) == nullptr) return;
  TableAlteration alteration(draft, table, /*is_empty=*/false);
  parser::ast::DropColumn command;
  command.column = table->find_column(object.column)->name;
  command.cascade = true;
  alteration.apply(command);
  if (alteration.needs_rewrite() || alteration.needs_stored_keys()) {
    throw KeyColumnGoes(object.oid, object.column);
  }
  alteration.finish();
}

/// Takes a part with the object's name out of its table's definition. `parts_of` gives those of its kind.
template <class PartsOf>
void erase_part(CatalogDraft& draft, const DropObject& object, const PartsOf& parts_of) {
  const auto table = draft.catalog().find_table(object.oid);
  if (!table) return;
  sql::TableDef changed = *table;
  std::erase_if(parts_of(changed), [&](const auto& part) { return part.name == object.name; });
  draft.put(std::move(changed));
}

void drop(CatalogDraft& draft, const DropObject& object) {
  const DependentChanges dependents;
  switch (object.kind) {
    case Kind::kTable:
      if (draft.catalog().find_table(object.oid)) draft.drop_table(object.oid);
      return;
    case Kind::kView:
      draft.drop_view(object.oid);
      return;
    case Kind::kSequence:
      if (draft.catalog().sequences.contains(object.oid)) draft.drop_sequence(object.oid);
      return;
    case Kind::kDefault: {
      const auto table = draft.catalog().find_table(object.oid);
      if (!table) return;
      sql::TableDef changed = *table;
      sql::ColumnDef& column = changed.columns[changed.position(object.column)];
      column.sequence = 0;
      column.default_sql.clear();
      draft.put(std::move(changed));
      return;
    }
    case Kind::kForeignKey: {
      const TablePtr table = table_of_foreign_key(draft, object.oid);
      if (!table) return;
      const sql::ForeignKeyDef key = *std::ranges::find(table->foreign_keys, object.oid, &sql::ForeignKeyDef::oid);
      for (const TablePtr& one : tree_of(draft.catalog(), table)) {
        const sql::ForeignKeyDef* own = one->oid == table->oid ? &key : sql::counterpart(*table, key, *one);
        if (own == nullptr) continue;
        sql::TableDef changed = *one;
        erase_foreign_key(changed, own->oid);
        draft.remove_unused_structures(*one, changed);
        draft.put(std::move(changed));
      }
      return;
    }
    case Kind::kCheck:
      return erase_part(draft, object, [](sql::TableDef& table) -> auto& { return table.checks; });
    case Kind::kPolicy:
      return erase_part(draft, object, [](sql::TableDef& table) -> auto& { return table.security.policies; });
    case Kind::kTrigger:
      if (const auto view = draft.catalog().find_view(object.oid)) {
        sql::ViewDef changed = *view;
        std::erase_if(changed.triggers, [&](const sql::TriggerDef& trigger) { return trigger.name == object.name; });
        return draft.put(std::move(changed));
      }
      return erase_part(draft, object, [](sql::TableDef& table) -> auto& { return table.triggers; });
    case Kind::kType:
      draft.drop_type(object.oid);
      return;
    case Kind::kFunction:
      if (draft.catalog().functions.contains(object.oid)) draft.drop_function(object.oid);
      return;
    case Kind::kExtension:
      if (draft.catalog().extensions.contains(object.oid)) drop_with_members(draft, object.oid);
      return;
    case Kind::kColumn:
      return drop_column(draft, object);
    case Kind::kSchema:
    case Kind::kIndex:
    case Kind::kKeyConstraint:
      return;  // never a dependent
  }
}

/// Dependent objects that go along are told in one notice.
void report_cascade(CatalogDraft& draft, const std::vector<std::string>& dependents) {
  constexpr std::size_t kReported = 100;
  if (dependents.empty()) return;
  if (dependents.size() == 1) return draft.notice(sqlstate::kSuccessfulCompletion, "drop cascades to " + dependents[0]);
  std::string detail;
  for (std::size_t index = 0; index < std::min(dependents.size(), kReported); ++index) {
    detail += (index == 0 ? "" : "\n") + ("drop cascades to " + dependents[index]);
  }
  if (dependents.size() > kReported) {
    detail += fmt::format("\nand {} other objects (see server log for list)", dependents.size() - kReported);
  }
  draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("drop cascades to {} other objects", dependents.size()), std::move(detail));
}

}  // namespace

std::string describe(const CatalogDraft& draft, const DropObject& object) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  const auto named = [&](std::string_view kind, const auto& definition) {
    return fmt::format("{} {}", kind, display_name(draft, definition.schema, definition.name));
  };
  const auto named_table = [&](const sql::TableDef& table) { return named(sql::kind_name(table), table); };
  switch (object.kind) {
    case Kind::kSchema:
      for (const auto& [name, schema] : catalog.schemas) {
        if (schema.oid == object.oid) return "schema " + parser::quote_identifier(name);
      }
      return "schema";
    case Kind::kTable:
      return named_table(*catalog.find_table(object.oid));
    case Kind::kView:
      return named("view", *catalog.find_view(object.oid));
    case Kind::kSequence:
      return named("sequence", catalog.sequences.at(object.oid));
    case Kind::kIndex: {
      const auto [table, name] = find_index_by_oid(draft, object.oid);
      return "index " + display_name(draft, table->schema, name);
    }
    case Kind::kKeyConstraint: {
      const auto [table, name] = find_index_by_oid(draft, object.oid);
      return fmt::format("constraint {} on {}", parser::quote_identifier(name), named_table(*table));
    }
    case Kind::kForeignKey: {
      const TablePtr table = table_of_foreign_key(draft, object.oid);
      const auto key = std::ranges::find(table->foreign_keys, object.oid, &sql::ForeignKeyDef::oid);
      return fmt::format("constraint {} on {}", parser::quote_identifier(key->name), named_table(*table));
    }
    case Kind::kCheck:
      return fmt::format("constraint {} on {}", parser::quote_identifier(object.name), named_table(*catalog.find_table(object.oid)));
    case Kind::kPolicy:
      return fmt::format("policy {} on {}", parser::quote_identifier(object.name), named_table(*catalog.find_table(object.oid)));
    case Kind::kTrigger:
      return fmt::format("trigger {} on {}", parser::quote_identifier(object.name),
                         catalog.views.contains(object.oid) ? named("view", *catalog.find_view(object.oid)) : named_table(*catalog.find_table(object.oid)));
    case Kind::kFunction: {
      const sql::FunctionDef& function = *catalog.functions.at(object.oid);
      const std::string schema = display_name(draft, function.schema, "");  // "x." where the path does not lead there
      return fmt::format("{} {}{}", function.procedure ? "procedure" : "function", schema.substr(0, schema.rfind('.') + 1),
                         planner::signature_of(function, ","));
    }
    case Kind::kExtension:
      return "extension " + catalog.extensions.at(object.oid).name;
    case Kind::kType:
      if (const sql::ExtensionDef* extension = sql::extension_of_type(catalog, object.oid)) {
        return "type " + display_name(draft, extension->schema, sql::format_type(sql::Type{object.oid}));
      }
      return "type " + display_name(draft, catalog.types.at(object.oid)->schema, catalog.types.at(object.oid)->name);
    case Kind::kColumn:
    case Kind::kDefault:
      break;
  }
  const auto table = catalog.find_table(object.oid);
  const std::string column = parser::quote_identifier(table->find_column(object.column)->name);
  return fmt::format("{}column {} of {}", object.kind == Kind::kDefault ? "default value for " : "", column, named_table(*table));
}

namespace {

/// A function, a column and a type need the row type of a table rather than the table.
std::string describe_reason(const CatalogDraft& draft, const DropObject& dependent, const DropObject& because) {
  const bool needs_type = dependent.kind == Kind::kFunction || dependent.kind == Kind::kColumn || dependent.kind == Kind::kType;
  if (needs_type && (because.kind == Kind::kTable || because.kind == Kind::kView)) {
    const auto table = draft.catalog().find_table(because.oid);
    const auto view = draft.catalog().find_view(because.oid);
    return "type " + (table ? display_name(draft, table->schema, table->name) : display_name(draft, view->schema, view->name));
  }
  return describe(draft, because);
}

/// 0A000 where PostgreSQL would take one field away from a composite type: the type of the field goes, the composite stays.
void check_fields_stay(const CatalogDraft& draft, const std::vector<DropObject>& targets, const std::vector<Found>& found) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  for (const Found& dependent : found) {
    if (dependent.object.kind != Kind::kType) continue;
    const sql::UserType& type = *catalog.types.at(dependent.object.oid);
    const auto schema = catalog.schemas.find(type.schema);
    const bool goes_with_schema =
        schema != catalog.schemas.end() && std::ranges::find(targets, DropObject{Kind::kSchema, schema->second.oid}) != targets.end();
    if (type.kind != sql::UserType::Kind::kComposite || goes_with_schema) continue;
    throw sql::not_supported("DROP … CASCADE over the type of a field of " + describe(draft, dependent.object));
  }
}

}  // namespace

std::vector<std::int16_t> drop_dependents(CatalogDraft& draft, const std::vector<DropObject>& targets, bool cascade) {
  std::vector<Found> found;
  for (const DropObject& target : targets) collect(draft, target, targets, found);
  // A foreign key goes with its table, and with its columns.
  std::erase_if(found, [&](const Found& dependent) {
    if (dependent.object.kind != Kind::kForeignKey) return false;
    const TablePtr table = table_of_foreign_key(draft, dependent.object.oid);
    const DropObject owner{Kind::kTable, table->oid};
    if (std::ranges::find(targets, owner) != targets.end() || std::ranges::find(found, owner, &Found::object) != found.end()) return true;
    const auto key = std::ranges::find(table->foreign_keys, dependent.object.oid, &sql::ForeignKeyDef::oid);
    return std::ranges::any_of(key->columns, [&](std::int16_t column) {
      const DropObject own{Kind::kColumn, table->oid, column};
      return std::ranges::find(targets, own) != targets.end() || std::ranges::find(found, own, &Found::object) != found.end();
    });
  });
  if (found.empty()) return {};
  std::vector<std::string> names, reasons;
  for (const Found& dependent : found) {
    names.push_back(describe(draft, dependent.object));
    reasons.push_back(names.back() + " depends on " + describe_reason(draft, dependent.object, dependent.because));
  }
  if (!cascade) {
    // Partitions go with their table: only that one was named.
    const auto goes_along = [&](const DropObject& target) {
      const TablePtr table = target.kind == Kind::kTable ? draft.catalog().find_table(target.oid) : nullptr;
      return table && table->partition && std::ranges::find(targets, DropObject{Kind::kTable, table->partition->parent}) != targets.end();
    };
    SqlError error(sqlstate::kDependentObjectsStillExist, targets.size() == 1 || std::ranges::all_of(targets.begin() + 1, targets.end(), goes_along)
                                ? fmt::format("cannot drop {} because other objects depend on it", describe(draft, targets[0]))
                                : "cannot drop desired object(s) because other objects depend on them");
    throw std::move(error)
        .detail(fmt::format("{}", fmt::join(reasons, "\n")))
        .hint("Use DROP ... CASCADE to drop the dependent objects too.");
  }
  check_fields_stay(draft, targets, found);
  report_cascade(draft, names);
  std::vector<std::int16_t> beside;
  for (auto dependent = found.rbegin(); dependent != found.rend(); ++dependent) {
    const auto is_beside = [&](const DropObject& target) {
      return dependent->object.kind == Kind::kColumn && target.kind == Kind::kColumn && target.oid == dependent->object.oid;
    };
    if (std::ranges::any_of(targets, is_beside)) {
      beside.push_back(dependent->object.column);
    } else {
      drop(draft, dependent->object);
    }
  }
  return beside;
}

std::string view_of_type(const CatalogDraft& draft, sql::Oid type) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  for (const auto& [oid, view] : catalog.views) {
    const auto shows = [&](const sql::ViewDef::Column& column) { return contains_type(catalog, column.type.oid, type); };
    if (std::ranges::any_of(view->columns, shows)) return "rule _RETURN on view " + display_name(draft, view->schema, view->name);
  }
  return {};
}

void check_no_view_uses(const CatalogDraft& draft, sql::Oid table, std::int16_t column) {
  for (const auto& [oid, other] : draft.catalog().tables) {
    if (!other->materialized || !reads(*other->materialized, {Kind::kColumn, table, column})) continue;
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot alter type of a column used by a view or rule")
        .detail(fmt::format("rule _RETURN on materialized view {} depends on column \"{}\"", display_name(draft, other->schema, other->name),
                            draft.catalog().find_table(table)->find_column(column)->name));
  }
  for (const auto& [oid, view] : draft.catalog().views) {
    if (!reads(*view, {Kind::kColumn, table, column})) continue;
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot alter type of a column used by a view or rule")
        .detail(fmt::format("rule _RETURN on view {} depends on column \"{}\"", display_name(draft, view->schema, view->name),
                            draft.catalog().find_table(table)->find_column(column)->name));
  }
}

}  // namespace redquel::executor
