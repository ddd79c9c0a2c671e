#include "executor/ddl/dependents.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/dependent_changes.h"
#include "executor/ddl/foreign_key_definition.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/table_alteration.h"
#include "executor/ddl/type_lookup.h"
#include "executor/session_context.h"
#include "parser/deparse.h"
#include "planner/bind/called_functions.h"
#include "planner/bind/sql_function.h"

namespace redquel::executor {

using sql::SqlError;
using Kind = DropObject::Kind;

namespace {

bool reads(const sql::ViewDef& view, const DropObject& object) {
  return std::ranges::any_of(view.references, [&](const sql::ViewDef::Reference& reference) {
    if (reference.relation != object.oid) return false;
    return object.column == 0 || std::ranges::find(reference.columns, object.column) != reference.columns.end();
  });
}

/// Does the foreign key need the object, which is not a part of its own table?
bool refers(const sql::ForeignKeyDef& key, const DropObject& object) {
  switch (object.kind) {
    case Kind::kTable:
      return key.referenced == object.oid;
    case Kind::kColumn:
      return key.referenced == object.oid && std::ranges::find(key.referenced_columns, object.column) != key.referenced_columns.end();
    case Kind::kIndex:
    case Kind::kKeyConstraint:
      return key.referenced_index == object.oid;
    default:
      return false;
  }
}

TablePtr table_of_foreign_key(const CatalogDraft& draft, sql::Oid key) {
  for (const auto& [oid, table] : draft.catalog().tables) {
    if (std::ranges::find(table->foreign_keys, key, &sql::ForeignKeyDef::oid) != table->foreign_keys.end()) return table;
  }
  return nullptr;
}

/// The table that has the index, and the index's name.
std::pair<TablePtr, std::string> find_index_by_oid(const CatalogDraft& draft, sql::Oid index) {
  for (const auto& [oid, table] : draft.catalog().tables) {
    if (table->primary_key_oid == index) return {table, table->primary_key_name};
    const auto found = std::ranges::find(table->indexes, index, &sql::IndexDef::oid);
    if (found != table->indexes.end()) return {table, found->name};
  }
  return {};
}

bool uses(const sql::CatalogSnapshot& catalog, const sql::FunctionDef& function, sql::Oid type) {
  const auto of_type = [&](const auto& part) { return contains_type(catalog, part.type.oid, type); };
  return contains_type(catalog, function.result.oid, type) || std::ranges::any_of(function.parameters, of_type) ||
         std::ranges::any_of(function.columns, of_type);
}

/// Objects with the oids by which they are put in order.
using Entries = std::vector<std::pair<sql::Oid, DropObject>>;

/// What depends on a function in the definitions of tables: defaults, CHECK constraints, generated columns.
void add_calling_parts(const CatalogDraft& draft, sql::Oid function, Entries& found) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  const std::string& name = catalog.functions.at(function)->name;
  for (const auto& [oid, table] : catalog.tables) {
    const auto calls = [&](const std::string& text) {
      if (text.find(name) == std::string::npos) return false;
      const std::vector<sql::Oid> called = planner::called_functions(text, *table, catalog, bind_settings(draft.session()));
      return std::ranges::find(called, function) != called.end();
    };
    for (const sql::ColumnDef& column : table->columns) {
      if (calls(column.default_sql)) found.push_back({oid, {Kind::kDefault, oid, column.number}});
      if (calls(column.generated_sql)) found.push_back({oid, {Kind::kColumn, oid, column.number}});
    }
    for (const sql::CheckDef& check : table->checks) {
      if (calls(check.expression_sql)) found.push_back({oid, {Kind::kCheck, oid, 0, check.name}});
    }
  }
}

void add_parts_of_schema(const sql::CatalogSnapshot& catalog, sql::Oid schema, Entries& found) {
  const auto is_in = [&](const std::string& name) {
    const auto definition = catalog.schemas.find(name);
    return definition != catalog.schemas.end() && definition->second.oid == schema;
  };
  for (const auto& [oid, table] : catalog.tables) {
    if (is_in(table->schema)) found.push_back({oid, {Kind::kTable, oid}});
  }
  for (const auto& [oid, view] : catalog.views) {
    if (is_in(view->schema)) found.push_back({oid, {Kind::kView, oid}});
  }
  for (const auto& [oid, sequence] : catalog.sequences) {
    if (is_in(sequence.schema) && sequence.owner_table == 0) found.push_back({oid, {Kind::kSequence, oid}});
  }
  for (const auto& [oid, type] : catalog.types) {
    if (is_in(type->schema)) found.push_back({oid, {Kind::kType, oid}});
  }
  for (const auto& [oid, function] : catalog.functions) {
    if (is_in(function->schema)) found.push_back({oid, {Kind::kFunction, oid}});
  }
}

/// Columns and types that are made of the type.
void add_parts_of_type(const sql::CatalogSnapshot& catalog, sql::Oid type, Entries& found) {
  for (const auto& [oid, table] : catalog.tables) {
    for (const sql::ColumnDef& column : table->columns) {
      if (uses_type(catalog, column, type)) found.push_back({oid, {Kind::kColumn, oid, column.number}});
    }
  }
  for (const auto& [oid, other] : catalog.types) {
    if (oid != type && contains_type(catalog, oid, type)) found.push_back({oid, {Kind::kType, oid}});
  }
}

/// What depends on one object directly, the oldest first.
std::vector<DropObject> direct_dependents(const CatalogDraft& draft, const DropObject& object) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  Entries found;
  if (object.kind == Kind::kSchema) add_parts_of_schema(catalog, object.oid, found);
  const TablePtr dropped = object.kind == Kind::kTable ? catalog.find_table(object.oid) : nullptr;
  const sql::Oid row_type = dropped ? dropped->row_type : 0;
  if (object.kind == Kind::kTable || object.kind == Kind::kView) {
    for (const auto& [oid, function] : catalog.functions) {
      const bool has_row = row_type != 0 && uses(catalog, *function, row_type);
      if (has_row || function->result_relation == object.oid) found.push_back({oid, {Kind::kFunction, oid}});
    }
  }
  if (row_type != 0) add_parts_of_type(catalog, row_type, found);
  if (object.kind == Kind::kTable || object.kind == Kind::kView || object.kind == Kind::kColumn || object.kind == Kind::kFunction ||
      object.kind == Kind::kKeyConstraint || object.kind == Kind::kSequence) {
    for (const auto& [oid, view] : catalog.views) {
      if (reads(*view, object)) found.push_back({oid, {Kind::kView, oid}});
    }
    for (const auto& [oid, table] : catalog.tables) {
      if (table->materialized && reads(*table->materialized, object)) found.push_back({oid, {Kind::kTable, oid}});
    }
  }
  if (object.kind == Kind::kType) {
    add_parts_of_type(catalog, object.oid, found);
    for (const auto& [oid, view] : catalog.views) {
      const bool shows = std::ranges::any_of(view->columns, [&](const auto& column) { return contains_type(catalog, column.type.oid, object.oid); });
      if (shows) found.push_back({oid, {Kind::kView, oid}});
    }
    for (const auto& [oid, function] : catalog.functions) {
      if (uses(catalog, *function, object.oid)) found.push_back({oid, {Kind::kFunction, oid}});
    }
  }
  if (object.kind == Kind::kColumn) {
    const TablePtr table = catalog.find_table(object.oid);
    for (const sql::ColumnDef& column : table->columns) {
      if (column.generated_sql.empty() || column.number == object.column) continue;
      const std::vector<std::int16_t> used = columns_of_generation(draft, *table, column);
      if (std::ranges::find(used, object.column) != used.end()) found.push_back({object.oid, {Kind::kColumn, object.oid, column.number}});
    }
  }
  if (object.kind == Kind::kFunction) add_calling_parts(draft, object.oid, found);
  if (object.kind == Kind::kSequence) {
    for (const auto& [oid, table] : catalog.tables) {
      for (const sql::ColumnDef& column : table->columns) {
        if (column.sequence == object.oid) found.push_back({oid, {Kind::kDefault, oid, column.number}});
      }
    }
  }
  for (const auto& [oid, table] : catalog.tables) {
    for (const sql::ForeignKeyDef& key : table->foreign_keys) {
      if (refers(key, object)) found.push_back({key.oid, {Kind::kForeignKey, key.oid}});
    }
  }
  std::ranges::stable_sort(found, {}, [](const auto& entry) { return entry.first; });
  std::vector<DropObject> dependents;
  for (const auto& [oid, dependent] : found) dependents.push_back(dependent);
  return dependents;
}

struct Found {
  DropObject object, because;
};

void collect(const CatalogDraft& draft, const DropObject& object, const std::vector<DropObject>& targets, std::vector<Found>& found) {
  for (const DropObject& dependent : direct_dependents(draft, object)) {
    const bool is_known = std::ranges::find(targets, dependent) != targets.end() ||
                          std::ranges::find(found, dependent, &Found::object) != found.end();
    // A default, column or CHECK goes with its table.
    const bool goes_anyway = (dependent.kind == Kind::kDefault || dependent.kind == Kind::kColumn || dependent.kind == Kind::kCheck) &&
                             std::ranges::find(targets, DropObject{Kind::kTable, dependent.oid}) != targets.end();
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
      sql::TableDef changed = *table;
      erase_foreign_key(changed, object.oid);
      draft.remove_unused_structures(*table, changed);
      draft.put(std::move(changed));
      return;
    }
    case Kind::kCheck: {
      const auto table = draft.catalog().find_table(object.oid);
      if (!table) return;
      sql::TableDef changed = *table;
      std::erase_if(changed.checks, [&](const sql::CheckDef& check) { return check.name == object.name; });
      draft.put(std::move(changed));
      return;
    }
    case Kind::kType:
      draft.drop_type(object.oid);
      return;
    case Kind::kFunction:
      if (draft.catalog().functions.contains(object.oid)) draft.drop_function(object.oid);
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
  if (dependents.size() == 1) return draft.notice("00000", "drop cascades to " + dependents[0]);
  std::string detail;
  for (std::size_t index = 0; index < std::min(dependents.size(), kReported); ++index) {
    detail += (index == 0 ? "" : "\n") + ("drop cascades to " + dependents[index]);
  }
  if (dependents.size() > kReported) {
    detail += fmt::format("\nand {} other objects (see server log for list)", dependents.size() - kReported);
  }
  draft.notice("00000", fmt::format("drop cascades to {} other objects", dependents.size()), std::move(detail));
}

}  // namespace

std::string describe(const CatalogDraft& draft, const DropObject& object) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  const auto named = [&](std::string_view kind, const auto& definition) {
    return fmt::format("{} {}", kind, display_name(draft, definition.schema, definition.name));
  };
  const auto named_table = [&](const sql::TableDef& table) {
    return named(table.mapping ? "foreign table" : table.materialized ? "materialized view" : "table", table);
  };
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
    case Kind::kFunction: {
      const sql::FunctionDef& function = *catalog.functions.at(object.oid);
      const std::string schema = display_name(draft, function.schema, "");  // "x." where the path does not lead there
      return fmt::format("{} {}{}", function.procedure ? "procedure" : "function", schema.substr(0, schema.rfind('.') + 1),
                         planner::signature_of(function, ","));
    }
    case Kind::kType:
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
    SqlError error("2BP01", targets.size() == 1
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

std::set<sql::Oid> dependents_of(const CatalogDraft& draft, sql::Oid object) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  std::vector<DropObject> found;
  if (catalog.tables.contains(object)) found = direct_dependents(draft, {Kind::kTable, object});
  if (catalog.views.contains(object)) found = direct_dependents(draft, {Kind::kView, object});
  if (catalog.sequences.contains(object)) found = direct_dependents(draft, {Kind::kSequence, object});
  if (catalog.types.contains(object)) found = direct_dependents(draft, {Kind::kType, object});
  if (catalog.functions.contains(object)) found = direct_dependents(draft, {Kind::kFunction, object});
  std::set<sql::Oid> oids;
  for (const DropObject& dependent : found) {
    oids.insert(dependent.kind == Kind::kForeignKey ? table_of_foreign_key(draft, dependent.oid)->oid : dependent.oid);
  }
  return oids;
}

void check_no_view_uses(const CatalogDraft& draft, sql::Oid table, std::int16_t column) {
  for (const auto& [oid, other] : draft.catalog().tables) {
    if (!other->materialized || !reads(*other->materialized, {Kind::kColumn, table, column})) continue;
    throw SqlError("0A000", "cannot alter type of a column used by a view or rule")
        .detail(fmt::format("rule _RETURN on materialized view {} depends on column \"{}\"", display_name(draft, other->schema, other->name),
                            draft.catalog().find_table(table)->find_column(column)->name));
  }
  for (const auto& [oid, view] : draft.catalog().views) {
    if (!reads(*view, {Kind::kColumn, table, column})) continue;
    throw SqlError("0A000", "cannot alter type of a column used by a view or rule")
        .detail(fmt::format("rule _RETURN on view {} depends on column \"{}\"", display_name(draft, view->schema, view->name),
                            draft.catalog().find_table(table)->find_column(column)->name));
  }
}

}  // namespace redquel::executor
