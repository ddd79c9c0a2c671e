#include <optional>

#include "executor/context/morsels.h"
#include "executor/context/thread_safety.h"
#include "executor/operators/batch_pieces.h"
#include "executor/operators/expression_list.h"
#include "executor/operators/operators.h"
#include "executor/operators/rows_before_error.h"
#include "executor/operators/sequence_evaluation.h"
#include "executor/runtime/computation.h"
#include "executor/runtime/event_loop_turn.h"

namespace redquel::executor {

namespace {

class ProjectedMorsels final : public Morsels {
 public:
  ProjectedMorsels(std::unique_ptr<Morsels> input, const ExpressionList& expressions, const sql::EvaluationContext& evaluation)
      : input_(std::move(input)), expressions_(expressions), evaluation_(evaluation) {}

  std::optional<sql::Batch> next(std::size_t worker) override {
    std::optional<sql::Batch> batch = input_->next(worker);
    if (!batch || batch->rows == 0) return batch;
    return sql::Batch{.rows = batch->rows, .columns = expressions_.evaluate_for_output(*batch, evaluation_)};
  }

 private:
  const std::unique_ptr<Morsels> input_;
  const ExpressionList& expressions_;
  const sql::EvaluationContext& evaluation_;
};

class ProjectOperator final : public Operator, public SharedOperator {
 public:
  ProjectOperator(const planner::PhysicalProject& plan, ExecutionContext& context)
      : plan_(plan),
        calls_sequences_(calls_sequences(plan.expressions)),
        may_take_long_(may_take_long(plan.expressions)),
        expressions_(plan.expressions),
        before_error_(plan.expressions),
        input_(context.make_operator(*plan.input)),
        context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    before_error_.throw_pending();
    if (may_take_long_ && !calls_sequences_) co_return co_await next_of_pieces();
    std::optional<sql::Batch> batch = co_await input_->next();
    if (!batch) co_return std::nullopt;
    if (calls_sequences_) {
      batch->columns = co_await evaluate_with_sequences(plan_.expressions, *batch, context_);
      co_return batch;
    }
    co_return project(*batch);
  }

  asio::awaitable<std::unique_ptr<Morsels>> share(std::size_t workers) override {
    if (calls_sequences_ || !are_thread_safe(plan_.expressions)) co_return nullptr;
    std::unique_ptr<Morsels> input = co_await executor::share(*input_, workers);
    if (!input) co_return nullptr;
    co_return std::make_unique<ProjectedMorsels>(std::move(input), expressions_, context_.evaluation());
  }

  bool is_at_end() const override { return input_->is_at_end() && pieces_.is_empty() && !before_error_.is_pending(); }

  void leave_out(std::size_t column, const KeyFilterPtr& filter) override {
    const auto* source = std::get_if<sql::ColumnRef>(&plan_.expressions[column]->node);
    if (source != nullptr && !calls_sequences_) input_->leave_out(source->column, filter);
  }

 private:
  sql::Batch project(const sql::Batch& batch) {
    return before_error_(batch, [&](const sql::Batch& rows) {
      return sql::Batch{.rows = rows.rows, .columns = expressions_.evaluate_for_output(rows, context_.evaluation())};
    });
  }

  asio::awaitable<std::optional<sql::Batch>> next_of_pieces() {
    if (!turn_) turn_.emplace();
    if (turn_->is_over()) co_await turn_->yield();  // a batch may have hundreds of pieces
    if (pieces_.is_empty()) {
      std::optional<sql::Batch> batch = co_await input_->next();
      if (!batch) co_return std::nullopt;
      pieces_.begin(*std::move(batch));
    }
    const sql::Batch piece = pieces_.next();
    auto work = [&] { return project(piece); };
    sql::Batch result = co_await compute_in_turns(std::move(work));
    pieces_.note(result.memory());
    co_return result;
  }

  const planner::PhysicalProject& plan_;
  bool calls_sequences_, may_take_long_;
  ExpressionList expressions_;
  RowsBeforeError before_error_;
  BatchPieces pieces_;
  std::optional<EventLoopTurn> turn_;  // of pieces; other projections read no clock
  OperatorPtr input_;
  ExecutionContext& context_;
};

}  // namespace

OperatorPtr make_project(const planner::PhysicalNode&, const planner::PhysicalProject& plan,
                         ExecutionContext& context) {
  return std::make_unique<ProjectOperator>(plan, context);
}

}  // namespace redquel::executor
