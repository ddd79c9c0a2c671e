#include "executor/operators/expression_list.h"
#include "executor/operators/make_operator.h"
#include "executor/operators/operators.h"

namespace redquel::executor {

namespace {

class ProjectOperator final : public Operator {
 public:
  ProjectOperator(const planner::PhysicalProject& plan, ExecutionContext& context)
      : expressions_(plan.expressions), input_(make_operator(*plan.input, context)), context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    std::optional<sql::Batch> batch = co_await input_->next();
    if (!batch) co_return std::nullopt;
    batch->columns = expressions_.evaluate_for_output(*batch, context_.evaluation());
    co_return batch;
  }

 private:
  ExpressionList expressions_;
  OperatorPtr input_;
  ExecutionContext& context_;
};

}  // namespace

OperatorPtr make_project(const planner::PhysicalNode&, const planner::PhysicalProject& plan,
                         ExecutionContext& context) {
  return std::make_unique<ProjectOperator>(plan, context);
}

}  // namespace redquel::executor
