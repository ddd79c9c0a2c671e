#include <algorithm>

#include "executor/operators/expression_list.h"
#include "executor/operators/key_view.h"
#include "executor/operators/operators.h"
#include "executor/runtime/row_store.h"
#include "executor/tables/key_values.h"

namespace redquel::executor {

namespace {

std::vector<sql::ExpressionPtr> tie_expressions(const std::vector<planner::SortKey>& keys) {
  std::vector<sql::ExpressionPtr> expressions;
  for (const planner::SortKey& key : keys) expressions.push_back(key.expression);
  return expressions;
}

class LimitOperator final : public Operator {
 public:
  LimitOperator(const planner::PhysicalLimit& plan, ExecutionContext& context)
      : plan_(plan),
        tie_keys_(tie_expressions(plan.tie_keys)),
        input_(context.make_operator(*plan.input)),
        context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!started_) {
      const RowCounts counts = evaluate_goal(plan_.limit, plan_.offset, context_.evaluation());
      skip_ = counts.offset;
      left_ = counts.limit;
      with_ties_ = plan_.with_ties && left_.value_or(0) > 0;
      started_ = true;
    }
    while (!left_ || *left_ > 0 || with_ties_) {
      std::optional<sql::Batch> batch = co_await input_->next();
      if (!batch) break;
      const std::size_t skipped = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, batch->rows));
      skip_ -= skipped;
      std::size_t count = batch->rows - skipped;
      if (left_ && with_ties_) {
        count = take_with_ties(*batch, skipped);
      } else if (left_) {
        count = static_cast<std::size_t>(std::min<std::uint64_t>(count, *left_));
        *left_ -= count;
      }
      if (count == 0) continue;
      if (count == batch->rows) co_return batch;
      const std::vector<RowNumber> rows = row_range(skipped, count);
      co_return batch->gather(rows);
    }
    input_.reset();
    co_return std::nullopt;
  }

 private:
  /// Returns how many rows from `first` on belong to the result: those within the limit, and those that tie with the last of them.
  std::size_t take_with_ties(const sql::Batch& batch, std::size_t first) {
    const std::size_t within = static_cast<std::size_t>(std::min<std::uint64_t>(batch.rows - first, *left_));
    *left_ -= within;
    if (*left_ > 0 || first == batch.rows) return within;
    std::vector<sql::ColumnPtr> keys = tie_keys_.evaluate(batch, context_.evaluation());
    const KeyViews views = views_of(keys);
    if (within > 0) {
      last_keys_ = std::move(keys);
      last_row_ = first + within - 1;
    }
    const KeyViews last = views_of(last_keys_);
    std::size_t end = first + within;
    while (end < batch.rows && equal_rows(views, end, last, last_row_)) ++end;
    if (end < batch.rows) with_ties_ = false;
    return end - first;
  }

  const planner::PhysicalLimit& plan_;
  ExpressionList tie_keys_;
  OperatorPtr input_;
  ExecutionContext& context_;
  bool started_ = false, with_ties_ = false;
  std::uint64_t skip_ = 0;
  std::optional<std::uint64_t> left_;      // rows within the limit that are still to come
  std::vector<sql::ColumnPtr> last_keys_;  // of the last row within the limit
  std::size_t last_row_ = 0;
};

}  // namespace

OperatorPtr make_limit(const planner::PhysicalNode&, const planner::PhysicalLimit& plan, ExecutionContext& context) {
  return std::make_unique<LimitOperator>(plan, context);
}

}  // namespace redquel::executor
