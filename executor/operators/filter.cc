#include "executor/operators/make_operator.h"
#include "executor/operators/operators.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

class FilterOperator final : public Operator {
 public:
  FilterOperator(const planner::PhysicalFilter& plan, ExecutionContext& context)
      : condition_(*plan.condition), input_(make_operator(*plan.input, context)), context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (true) {
      std::optional<sql::Batch> batch = co_await input_->next();
      if (!batch) co_return std::nullopt;
      const std::vector<std::uint32_t> rows = sql::select_rows(condition_, *batch, context_.evaluation());
      if (rows.size() == batch->rows) co_return batch;
      if (rows.empty()) continue;
      co_return batch->gather(rows);
    }
  }

 private:
  const sql::Expression& condition_;
  OperatorPtr input_;
  ExecutionContext& context_;
};

}  // namespace

OperatorPtr make_filter(const planner::PhysicalNode&, const planner::PhysicalFilter& plan, ExecutionContext& context) {
  return std::make_unique<FilterOperator>(plan, context);
}

}  // namespace redquel::executor
