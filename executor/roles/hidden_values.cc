#include "executor/roles/hidden_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "executor/storage/row_error.h"
#include "sql/privileges/object_acl.h"
#include "sql/privileges/row_security.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;
using TablePtr = sql::CatalogSnapshot::TablePtr;

namespace {

TablePtr table_of(const SqlError& error, const sql::CatalogSnapshot& catalog) {
  for (const auto& [oid, table] : catalog.tables) {
    if (table->name == error.table() && table->schema == error.schema()) return table;
  }
  return nullptr;
}

/// The readable parts of a table for a role.
class Readable {
 public:
  Readable(const sql::CatalogSnapshot& catalog, const sql::TableDef& table, sql::Oid role, std::string_view database)
      : catalog_(catalog), table_(table), role_(role), database_(database) {}

  bool whole_rows() const {
    const sql::RoleSet& roles = *sql::known_roles();
    if (sql::row_security(table_, role_, roles, database_) == sql::RowSecurity::kEnabled) return false;
    return (sql::held_rights(sql::acl_of(table_), role_, roles, database_) & sql::right::kSelect) != 0;
  }

  /// Expressions of an index are for roles that may read whole rows.
  bool columns(const std::vector<std::int16_t>& numbers) const {
    const sql::RoleSet& roles = *sql::known_roles();
    if (sql::row_security(table_, role_, roles, database_) == sql::RowSecurity::kEnabled) return false;
    return whole_rows() || std::ranges::all_of(numbers, [&](std::int16_t number) {
      return number > 0 && (sql::held_column_rights(catalog_, table_.oid, number, role_, roles, database_) & sql::right::kSelect) != 0;
    });
  }

 private:
  const sql::CatalogSnapshot& catalog_;
  const sql::TableDef& table_;
  sql::Oid role_;
  std::string_view database_;
};

/// The columns of the unique or exclusion constraint.
std::vector<std::int16_t> key_columns(const sql::TableDef& table, const std::string& constraint) {
  if (table.primary_key_index.name == constraint && !table.primary_key.empty()) return table.primary_key;
  std::vector<std::int16_t> columns;
  if (const sql::IndexDef* index = table.find_index(constraint)) {
    for (const sql::IndexDef::Part& part : index->parts) columns.push_back(part.shown_column != 0 ? part.shown_column : part.column);
  }
  return columns;
}

SqlError with_detail(const SqlError& error, std::string detail) {
  return SqlError(error.sqlstate(), error.message())
      .detail(std::move(detail))
      .hint(error.hint())
      .context(error.context())
      .schema(error.schema())
      .table(error.table())
      .column(error.column())
      .data_type(error.data_type())
      .constraint(error.constraint());
}

/// The detail of a violated foreign key names its values "Key (a)=(1) is …".
std::optional<SqlError> without_key(const SqlError& error, const sql::CatalogSnapshot& catalog, const sql::TableDef& referencing, sql::Oid role,
                                    std::string_view database) {
  const auto key = std::ranges::find(referencing.foreign_keys, error.constraint(), &sql::ForeignKeyDef::name);
  if (key == referencing.foreign_keys.end() || !error.detail().starts_with("Key (")) return std::nullopt;
  const TablePtr referenced = catalog.find_table(key->referenced);
  if (!referenced) return std::nullopt;
  const bool is_missing = error.message().starts_with("insert or update");
  const bool is_shown = is_missing ? Readable(catalog, referencing, role, database).columns(key->columns)
                                   : Readable(catalog, *referenced, role, database).columns(key->referenced_columns);
  if (is_shown) return std::nullopt;
  return with_detail(error, is_missing ? fmt::format("Key is not present in table \"{}\".", referenced->name)
                                       : fmt::format("Key is still referenced from table \"{}\".", referencing.name));
}

}  // namespace

std::optional<SqlError> without_hidden_values(const SqlError& error, const sql::CatalogSnapshot& catalog, const sql::TableDef* written,
                                              sql::Oid role, std::string_view database) {
  const std::string& state = error.sqlstate();
  if (error.detail().empty() || (!state.starts_with("23") && state != sqlstate::kWithCheckOptionViolation)) return std::nullopt;
  if (sql::known_roles()->is_superuser(role)) return std::nullopt;
  const TablePtr named = table_of(error, catalog);
  const sql::TableDef* table = named ? named.get() : written;
  if (table == nullptr) return std::nullopt;
  if (state == sqlstate::kForeignKeyViolation) return without_key(error, catalog, *table, role, database);
  const Readable readable(catalog, *table, role, database);
  if (state == sqlstate::kUniqueViolation) {
    if (readable.columns(key_columns(*table, error.constraint()))) return std::nullopt;
    return with_detail(error, "");
  }
  if (state == sqlstate::kExclusionViolation) {
    if (readable.columns(key_columns(*table, error.constraint()))) return std::nullopt;
    return with_detail(error, "Key conflicts with existing key.");
  }
  if (!error.detail().starts_with("Failing row contains") || readable.whole_rows()) return std::nullopt;
  return with_detail(error, "");
}

std::exception_ptr shown_failure(const SqlError& error, const sql::CatalogSnapshot* catalog, const planner::PhysicalPlan& plan, sql::Oid role,
                                 std::string_view database) {
  const planner::PhysicalNode* write = plan ? planner::main_write(*plan) : nullptr;
  const TablePtr* written = write != nullptr ? planner::table_of(*write) : nullptr;
  const TablePtr table = written != nullptr ? *written : nullptr;
  const std::optional<SqlError> shown =
      catalog != nullptr ? without_hidden_values(error, *catalog, table.get(), role, database) : std::nullopt;
  if (!shown) return std::current_exception();
  if (const auto* of_row = dynamic_cast<const RowError*>(&error)) return std::make_exception_ptr(RowError(*shown, of_row->row()));
  return std::make_exception_ptr(*shown);
}

std::vector<TablePtr> tables_without_policies(const planner::PhysicalPlan& plan, sql::Oid role, std::string_view database) {
  std::vector<TablePtr> tables = planner::tables_of(plan);
  std::erase_if(tables, [&](const TablePtr& table) { return sql::row_security(*table, role, *sql::known_roles(), database) == sql::RowSecurity::kEnabled; });
  return tables;
}

}  // namespace redquel::executor
