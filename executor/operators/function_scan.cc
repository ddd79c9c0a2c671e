#include "executor/operators/event_loop_turn.h"
#include "executor/operators/operators.h"
#include "executor/tables/engine_functions.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

class FunctionScanOperator final : public Operator {
 public:
  FunctionScanOperator(const planner::PhysicalFunctionScan& plan, ExecutionContext& context)
      : plan_(plan), context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (turn_.is_over()) co_await turn_.yield();
    if (!rows_) open();
    sql::Batch batch = rows_->next(sql::kBatchRows);
    if (batch.rows == 0) co_return std::nullopt;
    if (plan_.with_ordinality) {
      std::vector<std::int64_t> numbers(batch.rows);
      for (std::int64_t& number : numbers) number = ++ordinality_;
      batch.columns.push_back(
          std::make_shared<const sql::Column>(sql::Column::from_values(sql::kInt8, std::move(numbers))));
    }
    co_return batch;
  }

 private:
  void open() {
    std::vector<sql::Datum> arguments;
    for (const sql::ExpressionPtr& argument : plan_.arguments) {
      arguments.push_back(sql::evaluate_scalar(*argument, context_.evaluation()));
    }
    rows_ = plan_.function->open(arguments, context_.evaluation());
  }

  const planner::PhysicalFunctionScan& plan_;
  ExecutionContext& context_;
  EventLoopTurn turn_;
  std::unique_ptr<sql::RowSource> rows_;
  std::int64_t ordinality_ = 0;
};

}  // namespace

OperatorPtr make_function_scan(const planner::PhysicalNode&, const planner::PhysicalFunctionScan& plan,
                               ExecutionContext& context) {
  if (!plan.function->open) return make_engine_function(plan, context);
  return std::make_unique<FunctionScanOperator>(plan, context);
}

}  // namespace redquel::executor
