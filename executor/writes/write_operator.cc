#include "executor/writes/write_operator.h"

#include "executor/operators/make_operator.h"
#include "executor/storage/constraint_errors.h"
#include "executor/transaction/transaction.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

WriteOperator::WriteOperator(const planner::PhysicalNode& node, const planner::PhysicalPlan& source, ExecutionContext& context)
    : context_(context),
      source_(make_operator(*source, context)),
      unit_(WriteOptions{context.max_written_rows, *context.evaluation().settings,
                         context.transaction() ? &context.transaction()->buffer() : nullptr,
                         context.transaction() ? &context.transaction()->locks() : nullptr}),
      counters_(node, context) {}

asio::awaitable<std::optional<sql::Batch>> WriteOperator::next() {
  if (!applied_) {
    applied_ = true;
    while (auto batch = co_await source_->next()) co_await collect(*batch);
    source_.reset();  // and with it its hold on the transaction's buffer, which is about to change
    if (!unit_.empty()) {
      WriteStatus status = co_await unit_.execute(context_.redis(), counters());
      if (status == WriteStatus::kConflict) throw WriteConflict{};
      if (status == WriteStatus::kStale) throw StaleCatalog{};
      if (status == WriteStatus::kLocked) throw LockedByOther{unit_.blocker()};
    }
    if (context_.transaction()) unit_.absorb_into(context_.transaction()->buffer());
    finish();
  }
  while (!returned_.empty()) {
    sql::Batch batch = std::move(returned_.front());
    returned_.pop_front();
    if (batch.rows > 0) co_return batch;
  }
  co_return std::nullopt;
}

void WriteOperator::check_rows(const sql::TableDef& table, const std::vector<planner::BoundCheck>& checks, const sql::Batch& batch,
                               const std::vector<std::vector<sql::Datum>>& rows) {
  const sql::SessionSettings& settings = *context_.evaluation().settings;
  for (const auto& row : rows) require_not_null(table, row, settings);
  for (const planner::BoundCheck& check : checks) {
    sql::ColumnPtr result = sql::evaluate(*check.condition, batch, context_.evaluation());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!result->is_null(i) && !result->get<bool>(i)) throw check_violation(table, check.name, rows[i], settings);
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
