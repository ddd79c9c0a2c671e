#include "planner/bind/name_lookup.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/missing_name.h"
#include "sql/error.h"
#include "sql/expressions/coerce.h"
#include "sql/functions/row_version.h"
#include "sql/sqlstate.h"
#include "sql/system_tables.h"
#include "sql/types/server_numbers.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// SQL:2008 wants a reference across the wrong kind of join to be an error, not an invisible name.
void check_lateral(const NamespaceItem& item, std::optional<std::uint32_t> offset) {
  if (!item.lateral_only || item.lateral_ok) return;
  const std::string& name = item.relation->name;
  SqlError error(sqlstate::kInvalidColumnReference, fmt::format("invalid reference to FROM-clause entry for table \"{}\"", name));
  if (!item.is_target) throw std::move(error).detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.").at(offset);
  throw std::move(error)
      .hint(fmt::format("There is an entry for table \"{}\", but it cannot be referenced from this part of the query.", name))
      .at(offset);
}

bool is_visible(const QueryLevel& level, const NamespaceItem& item) {
  return !item.lateral_only || level.lateral_active;
}

std::string dotted(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ".")); }

}  // namespace

namespace {

/// The table's oid, and a value that is NULL only where an outer join found no row of it. Zero and nullptr: there is none.
std::pair<sql::Oid, ExpressionPtr> oid_and_witness(const Relation& relation) {
  sql::Oid table = 0;
  std::size_t shown = relation.columns.size();
  if (relation.table) {
    table = relation.table->oid;
    const auto& columns = relation.table->columns;
    shown = static_cast<std::size_t>(
        std::ranges::find_if(columns, [&](const auto& column) { return !relation.table->is_nullable(column); }) - columns.begin());
  } else if (const auto* system = sql::find_system_table(relation.system_schema, relation.system_name)) {
    table = system->oid;
    shown = static_cast<std::size_t>(std::ranges::find(system->columns, true, &sql::SystemTable::SystemColumn::not_null) -
                                     system->columns.begin());
  }
  if (table == 0) return {};
  return {table, shown < relation.columns.size() ? relation.columns[shown].value : relation.row_number};
}

/// tableoid: NULL where an outer join found no row. nullptr: there is none.
ExpressionPtr oid_of_rows(const Relation& relation) {
  if (relation.table && relation.table->partition_key) throw sql::not_supported("tableoid in a statement that writes to a partitioned table");
  const auto [table, witness] = oid_and_witness(relation);
  if (!witness) return nullptr;
  const ExpressionPtr oid = sql::make_constant(sql::kOidType, static_cast<std::int32_t>(table));
  sql::CaseCall call{{{sql::make_expression(sql::kBool, sql::NullTest{witness, true}), oid}},
                     sql::make_constant(sql::kOidType, sql::Datum{})};
  return sql::make_expression(sql::kOidType, std::move(call));
}

/// xmin: made of all values of the row (row_version.h), so it changes when they do. nullptr: these are no rows of a table.
ExpressionPtr version_of_rows(const Relation& relation) {
  const ExpressionPtr witness = oid_and_witness(relation).second;
  if (!witness) return nullptr;
  std::vector<ExpressionPtr> values{witness};
  for (const RelationColumn& column : relation.columns) values.push_back(column.value);
  return sql::make_expression(sql::kXid, sql::FunctionCall{&sql::row_version(), std::move(values)});
}

/// ctid: the number of the row's key, which stays as it is when the row is updated. nullptr: the key is no number, or unknown here.
ExpressionPtr place_of_rows(const Relation& relation) {
  ExpressionPtr number = relation.row_number;
  if (!number && relation.table && relation.table->primary_key.size() == 1) {
    const std::int16_t key = relation.table->primary_key[0];
    const sql::ColumnDef& column = *relation.table->find_column(key);
    if (column.type == sql::kInt8 || column.type == sql::kInt4 || column.type == sql::kInt2) {
      number = relation.columns.at(relation.table->position(key)).value;
    }
  }
  if (!number) return nullptr;
  number = sql::coerce(number, sql::kInt8, sql::CastContext::kImplicit, {});
  return sql::make_expression(sql::kTid, sql::CastCall{sql::CastCall::Method::kRelabel, nullptr, false, number});
}

}  // namespace

sql::Oid catalog_oid(const Relation& relation) {
  if (relation.table) return relation.table->oid;
  if (relation.view) return relation.view->oid;
  const sql::SystemTable* system =
      relation.system_name.empty() ? nullptr : sql::find_system_table(relation.system_schema, relation.system_name);
  return system == nullptr ? 0 : system->oid;
}

sql::Oid named_relation(const BindState& state, std::string_view schema, std::string_view name) {
  const std::vector<std::string>& path = state.settings.search_path;
  if (const sql::SystemTable* system = sql::find_system_table(schema, name)) return system->oid;
  if (const auto table = state.catalog.find_table(schema, name, path)) return table->oid;
  if (const auto view = state.catalog.find_view(schema, name, path)) return view->oid;
  const sql::SequenceDef* sequence = state.catalog.find_sequence(schema, name, path);
  return sequence == nullptr ? 0 : sequence->oid;
}

bool are_different_relations(const Relation& a, const Relation& b) {
  const sql::Oid first = catalog_oid(a), second = catalog_oid(b);
  return !a.aliased && !b.aliased && first != 0 && second != 0 && first != second;
}

ExpressionPtr find_in_relation(const Relation& relation, std::string_view name, std::optional<std::uint32_t> offset) {
  ExpressionPtr found;
  for (const RelationColumn& column : relation.columns) {
    if (column.name != name) continue;
    if (found) throw SqlError(sqlstate::kAmbiguousColumn, fmt::format("column reference \"{}\" is ambiguous", name)).at(offset);
    found = column.value;
  }
  for (const RelationColumn& column : relation.hidden) {
    if (!found && column.name == name) found = column.value;
  }
  if (!found && name == "ctid") return place_of_rows(relation);
  if (!found && name == "xmin") return version_of_rows(relation);
  return !found && name == "tableoid" ? oid_of_rows(relation) : found;
}

std::optional<FoundColumn> find_local_column(QueryLevel& level, std::string_view name,
                                             std::optional<std::uint32_t> offset) {
  ExpressionPtr found;
  RelationPtr relation;
  for (const NamespaceItem& item : level.names) {
    if (!item.by_column || !is_visible(level, item)) continue;
    ExpressionPtr value = find_in_relation(*item.relation, name, offset);
    if (!value) continue;
    if (found) throw SqlError(sqlstate::kAmbiguousColumn, fmt::format("column reference \"{}\" is ambiguous", name)).at(offset);
    check_lateral(item, offset);
    found = std::move(value);
    relation = item.relation;
  }
  if (!found) return std::nullopt;
  return FoundColumn{found, &level, relation};
}

std::optional<FoundColumn> find_column(QueryLevel& innermost, std::string_view name,
                                       std::optional<std::uint32_t> offset) {
  for (QueryLevel* level = &innermost; level != nullptr; level = level->outer) {
    if (auto found = find_local_column(*level, name, offset)) return found;
  }
  return std::nullopt;
}

std::optional<FoundRelation> find_relation(BindState& state, QueryLevel& innermost, std::string_view schema,
                                           std::string_view name, std::optional<std::uint32_t> offset) {
  const sql::Oid named = schema.empty() ? 0 : named_relation(state, schema, name);
  for (QueryLevel* level = &innermost; level != nullptr; level = level->outer) {
    const NamespaceItem* found = nullptr;
    for (const NamespaceItem& item : level->names) {
      if (!item.by_name || !is_visible(*level, item)) continue;
      const Relation& relation = *item.relation;
      if (schema.empty()) {
        if (relation.name != name) continue;
      } else {
        if (relation.aliased || named == 0 || catalog_oid(relation) != named) continue;
      }
      if (found) throw SqlError(sqlstate::kAmbiguousAlias, fmt::format("table reference \"{}\" is ambiguous", name)).at(offset);
      check_lateral(item, offset);
      found = &item;
    }
    if (found) return FoundRelation{found->relation, level, found->null_extended};
  }
  return std::nullopt;
}

ColumnName split_column_name(const BindState& state, const std::vector<std::string>& names, bool star,
                             std::optional<std::uint32_t> offset) {
  std::vector<std::string_view> parts(names.begin(), names.end());
  if (star) parts.push_back("*");
  if (parts.size() == 4) {
    if (parts[0] != state.settings.database) {
      throw SqlError(
          sqlstate::kFeatureNotSupported, fmt::format("cross-database references are not implemented: {}{}", dotted(names), star ? ".*" : ""))
          .at(offset);
    }
    parts.erase(parts.begin());
  }
  switch (parts.size()) {
    case 1:
      return {{}, {}, parts[0]};
    case 2:
      return {{}, parts[0], parts[1]};
    case 3:
      return {parts[0], parts[1], parts[2]};
    default:
      throw SqlError(sqlstate::kSyntaxError, fmt::format("improper qualified name (too many dotted names): {}{}", dotted(names), star ? ".*" : ""))
          .at(offset);
  }
}

}  // namespace redquel::planner
