#include "executor/catalog/dependencies.h"

#include <algorithm>
#include <set>

#include "executor/runtime/session_context.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/called_functions.h"
#include "sql/catalog/counterparts.h"
#include "sql/catalog/view_rows.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

using Kind = DropObject::Kind;
using TablePtr = sql::CatalogSnapshot::TablePtr;
using sql::UserType;

bool reads(const sql::ViewDef& view, const DropObject& object) {
  return std::ranges::any_of(view.references, [&](const sql::ViewDef::Reference& reference) {
    if (reference.relation != object.oid) return false;
    return object.column == 0 || std::ranges::find(reference.columns, object.column) != reference.columns.end();
  });
}

namespace {

bool any_reads(const std::vector<sql::PolicyDef::Reference>& references, const DropObject& object) {
  return std::ranges::any_of(references, [&](const sql::PolicyDef::Reference& reference) {
    if (reference.relation != object.oid) return false;
    return object.column == 0 || std::ranges::find(reference.columns, object.column) != reference.columns.end();
  });
}

}  // namespace

bool reads(const sql::PolicyDef& policy, const DropObject& object) { return any_reads(policy.references, object); }

bool reads(const sql::TriggerDef& trigger, const DropObject& object) {
  if (object.kind == Kind::kFunction && trigger.function == object.oid) return true;
  return any_reads(trigger.references, object);
}

TablePtr table_of_foreign_key(const CatalogDraft& draft, sql::Oid key) {
  for (const auto& [oid, table] : draft.catalog().tables) {
    if (std::ranges::find(table->foreign_keys, key, &sql::ForeignKeyDef::oid) != table->foreign_keys.end()) return table;
  }
  return nullptr;
}

bool contains_type(const sql::CatalogSnapshot& catalog, sql::Oid outer, sql::Oid inner) {
  if (outer == inner) return true;
  if (outer < sql::kFirstUserOid) return sql::is_extension_type(outer) && sql::type_info(outer).element == inner;
  const auto found = catalog.types.find(outer);
  if (found == catalog.types.end()) {
    if (const UserType* row = sql::find_user_type(outer)) {  // of a table
      return std::ranges::any_of(row->fields, [&](const sql::CompositeField& field) { return contains_type(catalog, field.domain != 0 ? field.domain : field.type.oid, inner); });
    }
    const sql::TypeInfo* info = sql::find_type(outer);
    if (const UserType* range = sql::find_user_range(outer)) return range->oid == inner || contains_type(catalog, range->oid, inner);
    return info != nullptr && info->element != 0 && contains_type(catalog, sql::declared_element(outer), inner);
  }
  const UserType& type = *found->second;
  if (type.kind == UserType::Kind::kDomain || type.kind == UserType::Kind::kRange) {
    return type.base_domain == inner || contains_type(catalog, type.base_domain, inner) || contains_type(catalog, type.base.oid, inner);
  }
  return std::ranges::any_of(type.fields, [&](const sql::CompositeField& field) { return contains_type(catalog, field.domain != 0 ? field.domain : field.type.oid, inner); });
}

bool uses_type(const sql::CatalogSnapshot& catalog, const sql::ColumnDef& column, sql::Oid type) {
  return contains_type(catalog, column.type.oid, type) || contains_type(catalog, column.domain, type);
}

std::vector<std::int16_t> columns_of(const sql::ExpressionPtr& expression, const sql::TableDef& table) {
  std::vector<std::uint32_t> positions;
  sql::collect_columns(*expression, positions);
  std::set<std::int16_t> numbers;
  for (std::uint32_t position : positions) numbers.insert(table.columns[position].number);
  return {numbers.begin(), numbers.end()};
}

std::vector<std::int16_t> columns_of_generation(const CatalogDraft& draft, const sql::TableDef& table, const sql::ColumnDef& column) {
  const parser::ast::ExpressionPtr parsed = parser::parse_expression(column.generated_sql);
  return columns_of(planner::bind_generation(*parsed, table, column, planner::positions_as_ids(table), draft.catalog(), bind_settings(draft.session()), true),
                    table);
}

std::vector<std::int16_t> columns_of_check(const CatalogDraft& draft, const sql::TableDef& table, const sql::CheckDef& check) {
  const parser::ast::ExpressionPtr parsed = parser::parse_expression(check.expression_sql);
  const sql::ExpressionPtr bound = planner::bind_check(*parsed, table, planner::positions_as_ids(table), draft.catalog(),
                                                       bind_settings(draft.session()), true);
  return columns_of(bound, table);
}

namespace {

/// Returns true if the foreign key needs the object. The object is no part of the key's own table.
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

bool uses(const sql::CatalogSnapshot& catalog, const sql::FunctionDef& function, sql::Oid type) {
  const auto of_type = [&](const auto& part) { return contains_type(catalog, part.type.oid, type); };
  return contains_type(catalog, function.result.oid, type) || std::ranges::any_of(function.parameters, of_type) ||
         std::ranges::any_of(function.columns, of_type);
}

/// Objects with the oids by which they are put in order.
using Entries = std::vector<std::pair<sql::Oid, DropObject>>;

/// Adds the parts of tables' definitions that depend on a function: defaults, CHECK constraints, generated columns.
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
  for (const auto& [oid, extension] : catalog.extensions) {
    if (is_in(extension.schema)) found.push_back({oid, {Kind::kExtension, oid}});
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

}  // namespace

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
  if (dropped) {
    for (const TablePtr& partition : catalog.partitions_of(object.oid)) found.push_back({partition->oid, {Kind::kTable, partition->oid}});
  }
  if (row_type != 0) add_parts_of_type(catalog, row_type, found);
  if (object.kind == Kind::kTable || object.kind == Kind::kView || object.kind == Kind::kColumn || object.kind == Kind::kFunction ||
      object.kind == Kind::kKeyConstraint || object.kind == Kind::kSequence) {
    for (const auto& [oid, view] : catalog.views) {
      if (reads(*view, object)) found.push_back({oid, {Kind::kView, oid}});
    }
    for (const auto& [oid, table] : catalog.tables) {
      if (table->materialized && reads(*table->materialized, object)) found.push_back({oid, {Kind::kTable, oid}});
      for (const sql::PolicyDef& policy : table->security.policies) {
        const bool goes_along = object.kind == Kind::kTable && object.oid == oid;
        if (!goes_along && reads(policy, object)) found.push_back({policy.oid, {Kind::kPolicy, oid, 0, policy.name}});
      }
    }
    sql::for_each_with_triggers(catalog, [&](const TablePtr& table) {
      const bool goes_along = (object.kind == Kind::kTable || object.kind == Kind::kView) && object.oid == table->oid;
      for (const sql::TriggerDef& trigger : table->triggers) {
        const bool updates = object.kind == Kind::kColumn && object.oid == table->oid && std::ranges::find(trigger.columns, object.column) != trigger.columns.end();
        if (!goes_along && (updates || reads(trigger, object))) found.push_back({trigger.oid, {Kind::kTrigger, table->oid, 0, trigger.name}});
      }
    });
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
      if (refers(key, object) && sql::inherited_foreign_key(catalog, *table, key) == nullptr) found.push_back({key.oid, {Kind::kForeignKey, key.oid}});
    }
  }
  for (auto& [oid, dependent] : found) {
    const auto function = dependent.kind == Kind::kFunction ? catalog.functions.find(dependent.oid) : catalog.functions.end();
    if (function == catalog.functions.end() || function->second->extension == 0) continue;
    // A member of an extension goes with the extension only.
    oid = function->second->extension;
    dependent = {Kind::kExtension, oid};
  }
  std::ranges::stable_sort(found, {}, [](const auto& entry) { return entry.first; });
  std::vector<DropObject> dependents;
  for (const auto& [oid, dependent] : found) dependents.push_back(dependent);
  return dependents;
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

}  // namespace redquel::executor
