#include "executor/writes/write_operator.h"

#include "executor/operators/make_operator.h"
#include "executor/storage/constraint_errors.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

WriteOperator::WriteOperator(const planner::PhysicalNode& node, const planner::PhysicalPlan& source, ExecutionContext& context)
    : context_(context),
      source_(make_operator(*source, context)),
      unit_(WriteOptions{context.max_written_rows, *context.evaluation().settings}),
      counters_(node, context) {}

asio::awaitable<std::optional<sql::Batch>> WriteOperator::next() {
  if (!applied_) {
    applied_ = true;
    while (auto batch = co_await source_->next()) co_await collect(*batch);
    if (!unit_.empty()) {
      WriteStatus status = co_await unit_.execute(context_.redis(), counters());
      if (status == WriteStatus::kConflict) throw WriteConflict{};
      if (status == WriteStatus::kStale) throw StaleCatalog{};
    }
    finish();
  }
  while (!returned_.empty()) {
    sql::Batch batch = std::move(returned_.front());
    returned_.pop_front();
    if (batch.rows > 0) co_return batch;
  }
  co_return std::nullopt;
}

void WriteOperator::compute_generated(const sql::TableDef& table, const std::vector<planner::Assignment>& generated, sql::Batch& batch) {
  // None of them reads another.
  for (const planner::Assignment& assignment : generated) {
    batch.columns[table.position(assignment.number)] = sql::evaluate(*assignment.value, batch, context_.evaluation());
  }
}

void WriteOperator::check_rows(const sql::TableDef& table, const std::vector<planner::BoundCheck>& checks, const sql::Batch& batch,
                               const std::vector<std::vector<sql::Datum>>& rows) {
  const sql::SessionSettings& settings = *context_.evaluation().settings;
  for (const auto& row : rows) require_not_null(table, row, settings);
  for (const planner::BoundCheck& check : checks) {
    sql::ColumnPtr result = sql::evaluate(*check.condition, batch, context_.evaluation());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool holds = !result->is_null(i) && result->get<bool>(i);
      if (!check.view.empty() && !holds) throw check_option_violation(table, check.view, rows[i], settings);
      if (check.view.empty() && !result->is_null(i) && !result->get<bool>(i)) throw check_violation(table, check.name, rows[i], settings);
    }
  }
}

sql::Batch WriteOperator::evaluate_returning(const std::vector<sql::ExpressionPtr>& returning, const sql::Batch& batch) {
  sql::Batch result;
  result.rows = batch.rows;
  for (const sql::ExpressionPtr& expression : returning) {
    result.columns.push_back(sql::evaluate_for_output(*expression, batch, context_.evaluation()));
  }
  return result;
}

std::vector<std::vector<sql::Datum>> rows_of(const sql::Batch& batch, const std::vector<std::size_t>& positions) {
  std::vector<std::vector<sql::Datum>> rows(batch.rows);
  for (auto& row : rows) row.reserve(positions.size());
  for (std::size_t position : positions) {
    const sql::Column& column = *batch.columns[position];
    if (column.is_encoded()) {
      sql::Column decoded = column.decode();
      for (std::size_t i = 0; i < batch.rows; ++i) rows[i].push_back(decoded.datum(i));
    } else {
      for (std::size_t i = 0; i < batch.rows; ++i) rows[i].push_back(column.datum(i));
    }
  }
  return rows;
}

}  // namespace redquel::executor
