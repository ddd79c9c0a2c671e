#include "executor/storage/constraint_errors.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/deparse.h"
#include "planner/bind/written_definition.h"
#include "sql/catalog/index_text.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// The bytes of a value that PostgreSQL shows in "Failing row contains".
constexpr std::size_t kShownBytes = 64;

std::string value_text(sql::Type type, const sql::Datum& value, const sql::SessionSettings& settings) {
  return sql::is_null(value) ? "null" : sql::format_value(type, value, settings);
}

bool has_columns(const sql::IndexDef& index, std::span<const std::int16_t> columns) {
  return std::equal(index.parts.begin(), index.parts.end(), columns.begin(), columns.end(),
                    [](const sql::IndexDef::Part& part, std::int16_t number) { return part.column == number; });
}

/// A column of a partial index by its name, an expression by its text.
std::string computed_name(const sql::TableDef& table, std::int16_t number) {
  for (const sql::IndexDef& index : table.indexes) {
    for (const sql::IndexDef::Part& part : index.parts) {
      if (part.column != number) continue;
      if (part.shown_column != 0) return parser::quote_identifier(table.find_column(part.shown_column)->name);
      static const sql::CatalogSnapshot kNoCatalog;
      return sql::index_expression_text(planner::written_expression(part.expression_sql, table, kNoCatalog, {}, true));
    }
  }
  return {};
}

}  // namespace

UniqueName unique_name(const sql::TableDef& table, std::span<const std::int16_t> columns) {
  const sql::IndexDef* first = nullptr;
  for (const sql::IndexDef& index : table.indexes) {
    if (!index.unique || index.state == sql::IndexState::kDropping || !has_columns(index, columns)) continue;
    if (first == nullptr || std::pair(index.is_deferrable(), index.oid) < std::pair(first->is_deferrable(), first->oid)) first = &index;
  }
  return first == nullptr ? UniqueName{} : UniqueName{first->name, first->oid};
}

UniqueName primary_key_name(const sql::TableDef& table) { return {table.primary_key_index.name, table.primary_key_index.oid}; }

std::string key_description(const sql::TableDef& table, std::span<const std::int16_t> columns,
                            std::span<const sql::Datum> values, const sql::SessionSettings& settings) {
  std::string names, texts;
  for (std::size_t index = 0; index < columns.size(); ++index) {
    const sql::ColumnDef& column = *table.find_column(columns[index]);
    if (index > 0) names += ", ", texts += ", ";
    names += column.number > 0 ? parser::quote_identifier(column.name) : computed_name(table, column.number);
    texts += value_text(column.type, values[index], settings);
  }
  return fmt::format("({})=({})", names, texts);
}

namespace {

bool is_exclusion(const sql::TableDef& table, std::string_view constraint) {
  const sql::IndexDef* index = table.find_index(constraint);
  return index != nullptr && index->is_exclusion();
}

SqlError constraint_error(std::string_view state, std::string message, const sql::TableDef& table, std::string_view constraint) {
  return SqlError(state, std::move(message)).schema(table.schema).table(table.name).constraint(std::string(constraint));
}

}  // namespace

SqlError duplicate_key(const sql::TableDef& table, std::string_view constraint, std::span<const std::int16_t> columns,
                       std::span<const sql::Datum> values, const sql::SessionSettings& settings) {
  const std::string key = key_description(table, columns, values, settings);
  if (is_exclusion(table, constraint)) {
    const std::string message = fmt::format("conflicting key value violates exclusion constraint \"{}\"", constraint);
    return constraint_error(sqlstate::kExclusionViolation, message, table, constraint)
        .detail(fmt::format("Key {} conflicts with existing key {}.", key, key));
  }
  return constraint_error(sqlstate::kUniqueViolation, fmt::format("duplicate key value violates unique constraint \"{}\"", constraint), table,
                          constraint)
      .detail(fmt::format("Key {} already exists.", key));
}

SqlError duplicate_in_new_index(const sql::TableDef& table, std::string_view index, std::span<const std::int16_t> columns,
                                std::span<const sql::Datum> values, const sql::SessionSettings& settings) {
  const std::string key = key_description(table, columns, values, settings);
  if (is_exclusion(table, index)) {
    return constraint_error(sqlstate::kExclusionViolation, fmt::format("could not create exclusion constraint \"{}\"", index), table, index)
        .detail(fmt::format("Key {} conflicts with key {}.", key, key));
  }
  return constraint_error(sqlstate::kUniqueViolation, fmt::format("could not create unique index \"{}\"", index), table, index)
      .detail(fmt::format("Key {} is duplicated.", key));
}

SqlError strange_row_key(const sql::TableDef& table, std::string_view key) {
  return SqlError(sqlstate::kDataCorrupted, fmt::format("key \"{}\" in Redis is not a row of table \"{}\"", key, table.name))
      .detail("Another program has written it.")
      .hint("Rename or delete the key, or choose another key for the row.");
}

std::string row_description(const sql::TableDef& table, std::span<const sql::Datum> row,
                            const sql::SessionSettings& settings) {
  std::string out = "(";
  for (std::size_t position = 0; position < table.shown_columns(); ++position) {
    if (position > 0) out += ", ";
    const std::string text = value_text(table.columns[position].type, row[position], settings);
    const std::string_view shown = sql::utf8_clip(text, kShownBytes);
    out += shown;
    if (shown.size() < text.size()) out += "...";
  }
  return out + ")";
}

SqlError null_violation(const sql::TableDef& table, const sql::ColumnDef& column, std::span<const sql::Datum> row,
                        const sql::SessionSettings& settings) {
  return SqlError(sqlstate::kNotNullViolation,
                  fmt::format("null value in column \"{}\" of relation \"{}\" violates not-null constraint", column.name, table.name))
      .detail(fmt::format("Failing row contains {}.", row_description(table, row, settings)))
      .schema(table.schema)
      .table(table.name)
      .column(column.name);
}

sql::SqlError column_contains_nulls(const sql::TableDef& table, const sql::ColumnDef& column) {
  return sql::SqlError(sqlstate::kNotNullViolation, fmt::format("column \"{}\" of relation \"{}\" contains null values", column.name, table.name))
      .schema(table.schema)
      .table(table.name)
      .column(column.name);
}

SqlError check_violation(const sql::TableDef& table, std::string_view constraint, std::span<const sql::Datum> row,
                         const sql::SessionSettings& settings) {
  const std::string message = fmt::format("new row for relation \"{}\" violates check constraint \"{}\"", table.name, constraint);
  return constraint_error(sqlstate::kCheckViolation, message, table, constraint)
      .detail(fmt::format("Failing row contains {}.", row_description(table, row, settings)));
}

SqlError partition_violation(const sql::TableDef& partition, std::span<const sql::Datum> row, const sql::SessionSettings& settings) {
  return SqlError(sqlstate::kCheckViolation, fmt::format("new row for relation \"{}\" violates partition constraint", partition.name))
      .detail(fmt::format("Failing row contains {}.", row_description(partition, row, settings)))
      .schema(partition.schema)
      .table(partition.name);
}

SqlError check_option_violation(const sql::TableDef& table, std::string_view view, std::span<const sql::Datum> row,
                                const sql::SessionSettings& settings) {
  return SqlError(sqlstate::kWithCheckOptionViolation, fmt::format("new row violates check option for view \"{}\"", view))
      .detail(fmt::format("Failing row contains {}.", row_description(table, row, settings)));
}

SqlError policy_violation(const sql::TableDef& table, const planner::PolicyCheck& check) {
  using Row = planner::PolicyCheck::Row;
  if (!check.view.empty()) {
    return SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("conflicting row is not visible through view \"{}\"", check.view));
  }
  const std::string name = check.policy.empty() ? "" : fmt::format(" \"{}\"", check.policy);
  return SqlError(sqlstate::kInsufficientPrivilege,
                  fmt::format("{} row violates row-level security policy{}{} for table \"{}\"", check.row == Row::kTarget ? "target" : "new", name,
                              check.row == Row::kNew ? "" : " (USING expression)", table.name));
}

void require_not_null(const sql::TableDef& table, std::span<const sql::Datum> row, const sql::SessionSettings& settings) {
  for (std::size_t position = 0; position < table.columns.size(); ++position) {
    const sql::ColumnDef& column = table.columns[position];
    if (!table.is_nullable(column) && sql::is_null(row[position])) throw null_violation(table, column, row, settings);
  }
}

}  // namespace redquel::executor
