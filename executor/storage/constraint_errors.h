#pragma once

#include <span>
#include <string>
#include <string_view>

#include "planner/tree/logical_plan.h"
#include "sql/catalog/catalog.h"
#include "sql/datum.h"
#include "sql/error.h"
#include "sql/session_settings.h"

namespace redquel::executor {

// PostgreSQL's constraint violations: message, detail, and the fields that name the constraint for clients.

/// The name that a violation of the table's unique structure over these columns (its primary key) reports: of the oldest such index, those
/// that are looked at behind the last row after all others.
struct UniqueName {
  std::string name;
  sql::Oid oid = 0;
};
UniqueName unique_name(const sql::TableDef& table, std::span<const std::int16_t> columns);
UniqueName primary_key_name(const sql::TableDef& table);

/// `(a, b)=(1, x)`, as details name a key. `values` are parallel to `columns`.
std::string key_description(const sql::TableDef& table, std::span<const std::int16_t> columns,
                            std::span<const sql::Datum> values, const sql::SessionSettings& settings);

/// 23505 `duplicate key value violates unique constraint "emp_pkey"`, detail `Key (emp_id)=(1) already exists.`
sql::SqlError duplicate_key(const sql::TableDef& table, std::string_view constraint, std::span<const std::int16_t> columns,
                            std::span<const sql::Datum> values, const sql::SessionSettings& settings);
/// 23505 `could not create unique index "x"`, detail `Key (a)=(1) is duplicated.`
sql::SqlError duplicate_in_new_index(const sql::TableDef& table, std::string_view index, std::span<const std::int16_t> columns,
                                     std::span<const sql::Datum> values, const sql::SessionSettings& settings);

/// XX001 of a new row: its key exists, but no row of the table has it.
sql::SqlError strange_row_key(const sql::TableDef& table, std::string_view key);

/// `(1, null, …)`: a row in the details below; every value is cut at 64 bytes. `row` is parallel to the table's columns (a hidden key behind them is left out).
std::string row_description(const sql::TableDef& table, std::span<const sql::Datum> row, const sql::SessionSettings& settings);
/// 23502 of a new row.
sql::SqlError null_violation(const sql::TableDef& table, const sql::ColumnDef& column, std::span<const sql::Datum> row,
                             const sql::SessionSettings& settings);
/// 23502 of a row that is there already, when its column shall be NOT NULL or part of a key.
sql::SqlError column_contains_nulls(const sql::TableDef& table, const sql::ColumnDef& column);
/// 23514 of a new row.
sql::SqlError check_violation(const sql::TableDef& table, std::string_view constraint, std::span<const sql::Datum> row,
                              const sql::SessionSettings& settings);

/// 23514 of a new row that another partition would take.
sql::SqlError partition_violation(const sql::TableDef& partition, std::span<const sql::Datum> row, const sql::SessionSettings& settings);

/// 44000 of a row that its view would not show.
sql::SqlError check_option_violation(const sql::TableDef& table, std::string_view view, std::span<const sql::Datum> row,
                                     const sql::SessionSettings& settings);

/// 42501 of a row that a policy forbids to write, or to change.
sql::SqlError policy_violation(const sql::TableDef& table, const planner::PolicyCheck& check);

/// NOT NULL columns and key columns of a new row; throws `null_violation` for the first that is NULL, in column order.
void require_not_null(const sql::TableDef& table, std::span<const sql::Datum> row, const sql::SessionSettings& settings);

}  // namespace redquel::executor
