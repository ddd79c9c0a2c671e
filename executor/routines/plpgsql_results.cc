// The results of routines in PL/pgSQL: RETURN, RETURN NEXT, RETURN QUERY, OUT parameters.

#include <fmt/format.h>

#include "executor/routines/plpgsql_run.h"
#include "executor/routines/routine_result.h"
#include "planner/bind/sql_function.h"
#include "sql/sqlstate.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::executor {

using sql::Datum;
using sql::SqlError;

namespace {

SqlError wrong_structure(std::string detail) {
  return SqlError(sqlstate::kDatatypeMismatch, "structure of query does not match function result type").detail(std::move(detail));
}

}  // namespace

boost::asio::awaitable<void> PlpgsqlRun::return_value(const pl::SqlText& text) {
  if (call_.invocation.trigger != nullptr) co_return co_await return_row(text, *call_.invocation.trigger);
  TypedValue value = co_await evaluate(text);
  const bool is_row = planner::returns_rows(*function_);
  if (is_row && !sql::is_null(value.value) && !sql::is_row_type(value.type.oid)) {
    throw SqlError(sqlstate::kDatatypeMismatch, "cannot return non-composite value from function returning composite type");
  }
  result_ = std::move(value);
}

TypedRow PlpgsqlRun::outputs() {
  TypedRow row;
  for (std::size_t i = 0; i < routine_.outputs.size(); ++i) {
    TypedValue value = variable_value(routine_.outputs[i]);
    row.columns.push_back({routine_.function->columns[i].name, value.type});
    row.values.push_back(std::move(value.value));
  }
  return row;
}

void PlpgsqlRun::add_result(TypedRow row) {
  if (set_columns_.empty()) set_columns_ = planner::returns_rows(*function_) ? row.columns : std::vector<sql::ResultColumn>{{function_->name, function_->result}};
  if (set_.empty()) {
    for (const sql::ResultColumn& column : set_columns_) set_.push_back(std::make_shared<sql::Column>(column.type));
  }
  if (row.values.size() != set_columns_.size()) {
    throw SqlError(sqlstate::kDatatypeMismatch, "returned record type does not match expected record type")
        .detail(fmt::format("Number of returned columns ({}) does not match expected column count ({}).", row.values.size(), set_columns_.size()));
  }
  for (std::size_t i = 0; i < set_.size(); ++i) set_[i]->append_datum(convert({std::move(row.values[i]), row.columns[i].type}, set_columns_[i].type));
  if (++set_rows_ % 1024 != 0) return;
  std::size_t memory = 0;
  for (const auto& column : set_) memory += column->memory();
  if (memory > session_.work_mem) throw sql::out_of_memory().detail("The result of a function in PL/pgSQL exceeds work_mem.");
}

boost::asio::awaitable<void> PlpgsqlRun::return_next(const pl::ReturnNext& statement) {
  if (!statement.value) {
    add_result(outputs());
    co_return;
  }
  TypedValue value = co_await evaluate(*statement.value);
  if (!planner::returns_rows(*function_)) {
    add_result({{{function_->name, value.type}}, {std::move(value.value)}});
    co_return;
  }
  if (!sql::is_null(value.value) && !sql::is_row_type(value.type.oid)) {
    throw SqlError(sqlstate::kDatatypeMismatch, "cannot return non-composite value from function returning composite type");
  }
  TypedRow row = row_of(value);
  if (row.columns.empty()) {
    for (const sql::ResultColumn& column : set_columns_) {
      row.columns.push_back(column);
      row.values.emplace_back();
    }
  }
  add_result(std::move(row));
}

boost::asio::awaitable<void> PlpgsqlRun::return_query(const pl::ReturnQuery& statement) {
  Opened opened = co_await start(statement.query);
  if (!opened.run || !opened.statement->returns_rows) throw SqlError(sqlstate::kInvalidCursorDefinition, "cannot open query as cursor");
  const std::vector<sql::ResultColumn> columns = opened.columns;
  std::vector<sql::ResultColumn> wanted = set_columns_;
  if (wanted.empty() && !planner::returns_rows(*function_)) wanted.push_back({function_->name, function_->result});
  if (!wanted.empty()) {
    if (columns.size() != wanted.size()) {
      throw wrong_structure(fmt::format("Number of returned columns ({}) does not match expected column count ({}).", columns.size(), wanted.size()));
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].type.oid == wanted[i].type.oid) continue;
      throw wrong_structure(fmt::format("Returned type {} does not match expected type {} in column {}.", sql::format_type(columns[i].type),
                                        sql::format_type(wanted[i].type), i + 1));
    }
  }
  const std::vector<sql::Batch> rows = co_await all_rows(opened);
  std::uint64_t count = 0;
  for (const sql::Batch& batch : rows) {
    for (std::size_t i = 0; i < batch.rows; ++i) {
      TypedRow row{columns, {}};
      for (const sql::ColumnPtr& column : batch.columns) row.values.push_back(column->datum(i));
      add_result(std::move(row));
    }
    count += batch.rows;
  }
  row_count_ = count;
  set_found(count > 0);
}

std::vector<sql::Batch> PlpgsqlRun::results() {
  const std::vector<sql::ResultColumn>& wanted = call_.invocation.columns;
  std::vector<sql::Batch> rows;
  std::vector<sql::ResultColumn> columns;
  if (function_->returns_set) {
    if (set_rows_ == 0) return {};
    sql::Batch batch{.rows = set_rows_, .columns = {}};
    for (const auto& column : set_) batch.columns.push_back(column);
    rows.push_back(std::move(batch));
    columns = set_columns_;
  } else {
    TypedRow row;
    if (routine_.has_outputs) {
      row = outputs();
    } else if (function_->result.oid == sql::oid::kVoid) {
      if (function_->procedure) return {};
      row = {{{"", function_->result}}, {std::string()}};
    } else if (!planner::returns_rows(*function_)) {
      row = {{{"", function_->result}}, {convert(std::move(*result_), function_->result)}};
    } else {
      if (sql::is_null(result_->value)) return {};
      row = {{{"", result_->type}}, {std::move(result_->value)}};
    }
    sql::Batch batch{.rows = 1, .columns = {}};
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      batch.columns.push_back(std::make_shared<const sql::Column>(sql::Column::constant(row.columns[i].type, row.values[i], 1)));
    }
    rows.push_back(std::move(batch));
    columns = row.columns;
    if (function_->result.oid == sql::oid::kVoid && function_->columns.empty()) return rows;
  }
  const sql::KnownTypesScope known_types(catalog_->user_types);
  return as_results(rows, *function_, columns, wanted, session_, *catalog_);
}

}  // namespace redquel::executor
