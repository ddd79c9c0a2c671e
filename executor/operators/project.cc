#include "executor/operators/expression_list.h"
#include "executor/operators/operators.h"
#include "executor/operators/rows_before_error.h"
#include "executor/operators/sequence_evaluation.h"

namespace redquel::executor {

namespace {

class ProjectOperator final : public Operator {
 public:
  ProjectOperator(const planner::PhysicalProject& plan, ExecutionContext& context)
      : plan_(plan),
        calls_sequences_(calls_sequences(plan.expressions)),
        expressions_(plan.expressions),
        before_error_(plan.expressions),
        input_(context.make_operator(*plan.input)),
        context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    before_error_.throw_pending();
    std::optional<sql::Batch> batch = co_await input_->next();
    if (!batch) co_return std::nullopt;
    if (calls_sequences_) {
      batch->columns = co_await evaluate_with_sequences(plan_.expressions, *batch, context_);
      co_return batch;
    }
    co_return before_error_(*batch, [&](const sql::Batch& rows) {
      return sql::Batch{.rows = rows.rows, .columns = expressions_.evaluate_for_output(rows, context_.evaluation())};
    });
  }

  bool is_at_end() const override { return input_->is_at_end() && !before_error_.is_pending(); }

  void leave_out(std::size_t column, const KeyFilterPtr& filter) override {
    const auto* source = std::get_if<sql::ColumnRef>(&plan_.expressions[column]->node);
    if (source != nullptr && !calls_sequences_) input_->leave_out(source->column, filter);
  }

 private:
  const planner::PhysicalProject& plan_;
  bool calls_sequences_;
  ExpressionList expressions_;
  RowsBeforeError before_error_;
  OperatorPtr input_;
  ExecutionContext& context_;
};

}  // namespace

OperatorPtr make_project(const planner::PhysicalNode&, const planner::PhysicalProject& plan,
                         ExecutionContext& context) {
  return std::make_unique<ProjectOperator>(plan, context);
}

}  // namespace redquel::executor
