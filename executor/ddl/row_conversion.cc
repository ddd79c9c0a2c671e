#include "executor/ddl/row_conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "executor/runtime/session_context.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/sequences.h"
#include "executor/storage/table_walk.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/domain.h"
#include "sql/error.h"
#include "sql/expressions/coerce.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

SqlError cannot_convert(const ColumnRewrite& rewrite, const sql::ColumnDef& column) {
  const std::string type = sql::format_type(sql::Type{column.type.oid});
  if (rewrite.using_value != nullptr) {
    return SqlError(sqlstate::kDatatypeMismatch,
                    fmt::format("result of USING clause for column \"{}\" cannot be cast automatically to type {}", column.name, type))
        .hint("You might need to add an explicit cast.");
  }
  return SqlError(sqlstate::kDatatypeMismatch, fmt::format("column \"{}\" cannot be cast automatically to type {}", column.name, type))
      .hint(fmt::format("You might need to specify \"USING {}::{}\".", column.name, sql::format_type(column.type)));
}

sql::ColumnPtr numbers(const std::vector<std::int64_t>& values, sql::Type type) {
  auto column = std::make_shared<sql::Column>(type);
  for (std::int64_t value : values) {
    if (type.oid == sql::oid::kInt2) {
      column->append(static_cast<std::int16_t>(value));
    } else if (type.oid == sql::oid::kInt4) {
      column->append(static_cast<std::int32_t>(value));
    } else {
      column->append(value);
    }
  }
  return column;
}

}  // namespace

sql::ExpressionPtr converted_column(const sql::TableDef& before, const sql::ColumnDef& column, const ColumnRewrite& rewrite,
                                    const sql::CatalogSnapshot& catalog, const planner::BindSettings& settings) {
  const auto ids = planner::positions_as_ids(before);
  if (rewrite.value) return rewrite.value;
  const sql::ColumnDef* old = before.find_column(column.number);
  sql::ExpressionPtr value = rewrite.using_value != nullptr
                                 ? planner::bind_column_expression(*rewrite.using_value, before, ids, catalog, settings)
                                 : sql::make_column(old->type, ids[before.position(old->number)], old->name);
  sql::ExpressionPtr converted = sql::try_coerce(value, column.type, sql::CastContext::kAssignment, settings.session);
  if (!converted) throw cannot_convert(rewrite, column);
  return planner::into_domain(catalog, settings, converted, column.domain);
}

RowConverter::RowConverter(const SessionState& session, const sql::CatalogSnapshot& catalog, TablePtr before, TablePtr after,
                           const std::vector<ColumnRewrite>& rewrites)
    : before_(std::move(before)), after_(std::move(after)), evaluation_(definition_context(session, catalog)) {
  const planner::BindSettings settings = bind_settings(session);
  for (const sql::ColumnDef& column : after_->columns) sources_.push_back(source_of(column, rewrites, catalog, settings));
  for (const sql::CheckDef& check : after_->checks) {
    if (check.not_valid) continue;
    const ast::ExpressionPtr written = parser::parse_expression(check.expression_sql);
    checks_.push_back({check.name, planner::bind_check(*written, *after_, planner::positions_as_ids(*after_), catalog, settings, true)});
  }
}

bool RowConverter::keeps_values() const {
  return std::ranges::all_of(sources_, [](const Source& source) { return source.copied.has_value(); });
}

asio::awaitable<std::vector<RowConverter::Row>> RowConverter::convert(RedisClient& client, const sql::Batch& page) {
  sql::Batch batch{.rows = page.rows, .columns = {}};
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    if (source.copied) {
      batch.columns.push_back(page.columns[*source.copied]);
    } else if (source.sequence != nullptr) {
      const std::vector<std::int64_t> values = co_await allocate(client, *source.sequence, page.rows);
      batch.columns.push_back(numbers(values, after_->columns[i].type));
    } else if (source.over_old) {
      batch.columns.push_back(sql::evaluate(*source.over_old, page, evaluation_));
    } else {
      batch.columns.push_back(std::make_shared<const sql::Column>(sql::Column::constant(after_->columns[i].type, {}, page.rows)));
    }
  }
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].over_new) batch.columns[i] = sql::evaluate(*sources_[i].over_new, batch, evaluation_);
  }
  check(batch);
  std::vector<Row> rows = decode_rows(batch);
  if (after_->has_hidden_key()) {
    const std::vector<std::int64_t> keys = co_await allocate_row_keys(client, *after_, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].emplace_back(keys[i]);
  }
  co_return rows;
}

RowConverter::Source RowConverter::source_of(const sql::ColumnDef& column, const std::vector<ColumnRewrite>& rewrites,
                                             const sql::CatalogSnapshot& catalog, const planner::BindSettings& settings) const {
  Source source;
  const auto rewrite = std::ranges::find(rewrites, column.number, &ColumnRewrite::column);
  const sql::ColumnDef* old = before_->find_column(column.number);
  if (!column.generated_sql.empty()) {
    const ast::ExpressionPtr written = parser::parse_expression(column.generated_sql);
    source.over_new = planner::bind_generation(*written, *after_, column, planner::positions_as_ids(*after_), catalog, settings, true);
  } else if (rewrite != rewrites.end() && old != nullptr) {
    source.over_old = converted_column(*before_, column, *rewrite, catalog, settings);
  } else if (old != nullptr && old->type.oid != column.type.oid) {
    // A wider type needs no other texts, but the rows are written for another reason.
    source.over_old = converted_column(*before_, column, {column.number, nullptr}, catalog, settings);
  } else if (old != nullptr) {
    source.copied = before_->position(column.number);
  } else if (column.sequence != 0) {
    source.sequence = &catalog.sequences.at(column.sequence);
  } else if (!column.default_sql.empty()) {
    const ast::ExpressionPtr written = parser::parse_expression(column.default_sql);
    source.over_old = planner::bind_default(*written, *after_, column, catalog, settings, true);
  }
  return source;
}

void RowConverter::check(const sql::Batch& batch) const {
  for (std::size_t i = 0; i < after_->columns.size(); ++i) {
    const sql::ColumnDef& column = after_->columns[i];
    if (after_->is_nullable(column)) continue;
    for (std::size_t row = 0; row < batch.rows; ++row) {
      if (!batch.columns[i]->is_null(row)) continue;
      throw column_contains_nulls(*after_, column);
    }
  }
  for (const Check& check : checks_) {
    const sql::ColumnPtr result = sql::evaluate(*check.condition, batch, evaluation_);
    for (std::size_t row = 0; row < batch.rows; ++row) {
      if (result->is_null(row) || result->get<bool>(row)) continue;
      throw SqlError(sqlstate::kCheckViolation,
                     fmt::format("check constraint \"{}\" of relation \"{}\" is violated by some row", check.name, after_->name))
          .schema(after_->schema)
          .table(after_->name)
          .constraint(check.name);
    }
  }
}

}  // namespace redquel::executor
