#include "executor/operators/operators.h"
#include "executor/operators/rows_before_error.h"
#include "executor/operators/sequence_evaluation.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

class FilterOperator final : public Operator {
 public:
  FilterOperator(const planner::PhysicalFilter& plan, ExecutionContext& context)
      : condition_(plan.condition),
        calls_sequences_(calls_sequences({&plan.condition, 1})),
        before_error_({&plan.condition, 1}),
        input_(context.make_operator(*plan.input)),
        context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (true) {
      before_error_.throw_pending();
      std::optional<sql::Batch> batch = co_await input_->next();
      if (!batch) co_return std::nullopt;
      std::vector<std::uint32_t> rows;
      if (calls_sequences_) {
        const std::vector<sql::ColumnPtr> passes = co_await evaluate_with_sequences({&condition_, 1}, *batch, context_);
        for (std::uint32_t row = 0; row < batch->rows; ++row) {
          if (!passes[0]->is_null(row) && passes[0]->get<bool>(row)) rows.push_back(row);
        }
      } else {
        rows = before_error_(*batch, [&](const sql::Batch& some) { return sql::select_rows(*condition_, some, context_.evaluation()); });
      }
      if (rows.size() == batch->rows) co_return batch;
      if (rows.empty()) continue;
      co_return batch->gather(rows);
    }
  }

 private:
  const sql::ExpressionPtr& condition_;
  bool calls_sequences_;
  RowsBeforeError before_error_;
  OperatorPtr input_;
  ExecutionContext& context_;
};

}  // namespace

OperatorPtr make_filter(const planner::PhysicalNode&, const planner::PhysicalFilter& plan, ExecutionContext& context) {
  return std::make_unique<FilterOperator>(plan, context);
}

}  // namespace redquel::executor
