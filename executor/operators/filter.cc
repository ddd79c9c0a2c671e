#include "executor/context/morsels.h"
#include "executor/context/thread_safety.h"
#include "executor/operators/operators.h"
#include "executor/operators/rows_before_error.h"
#include "executor/operators/sequence_evaluation.h"
#include "executor/runtime/computation.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

class FilteredMorsels final : public Morsels {
 public:
  FilteredMorsels(std::unique_ptr<Morsels> input, const sql::Expression& condition, const sql::EvaluationContext& evaluation)
      : input_(std::move(input)), condition_(condition), evaluation_(evaluation) {}

  std::optional<sql::Batch> next(std::size_t worker) override {
    std::optional<sql::Batch> batch = input_->next(worker);
    if (!batch || batch->rows == 0) return batch;
    const std::vector<std::uint32_t> rows = sql::select_rows(condition_, *batch, evaluation_);
    if (rows.size() == batch->rows) return batch;
    return batch->gather(rows);
  }

 private:
  const std::unique_ptr<Morsels> input_;
  const sql::Expression& condition_;
  const sql::EvaluationContext& evaluation_;
};

class FilterOperator final : public Operator, public SharedOperator {
 public:
  FilterOperator(const planner::PhysicalFilter& plan, ExecutionContext& context)
      : condition_(plan.condition),
        calls_sequences_(calls_sequences({&plan.condition, 1})),
        may_take_long_(may_take_long({&plan.condition, 1})),
        is_constant_(has_one_value(*plan.condition)),
        before_error_({&plan.condition, 1}),
        input_(context.make_operator(*plan.input)),
        context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (is_constant_) co_return co_await next_if_true();
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
        auto select = [&] {
          return before_error_(*batch, [&](const sql::Batch& some) { return sql::select_rows(*condition_, some, context_.evaluation()); });
        };
        if (may_take_long_) rows = co_await compute_in_turns(std::move(select));
        else rows = select();
      }
      if (rows.size() == batch->rows) co_return batch;
      if (rows.empty()) continue;
      co_return batch->gather(rows);
    }
  }

  asio::awaitable<std::unique_ptr<Morsels>> share(std::size_t workers) override {
    if (is_constant_ || calls_sequences_ || !is_thread_safe(*condition_)) co_return nullptr;
    std::unique_ptr<Morsels> input = co_await executor::share(*input_, workers);
    if (!input) co_return nullptr;
    co_return std::make_unique<FilteredMorsels>(std::move(input), *condition_, context_.evaluation());
  }

  void leave_out(std::size_t column, const KeyFilterPtr& filter) override {
    if (!calls_sequences_) input_->leave_out(column, filter);
  }

 private:
  static bool has_one_value(const sql::Expression& condition) {
    std::vector<std::uint32_t> columns;
    sql::collect_columns(condition, columns);
    return columns.empty() && !sql::is_volatile(condition);
  }

  /// Checks a condition without columns once, before the input reads anything.
  asio::awaitable<std::optional<sql::Batch>> next_if_true() {
    if (!has_begun_) {
      sql::Batch one;
      one.rows = 1;
      auto select = [&] { return sql::select_rows(*condition_, one, context_.evaluation()); };
      const std::vector<std::uint32_t> rows = co_await compute_in_turns(std::move(select));
      if (rows.empty()) co_return std::nullopt;
    }
    std::optional<sql::Batch> batch = co_await input_->next();
    has_begun_ = batch.has_value();
    co_return batch;
  }

  const sql::ExpressionPtr& condition_;
  bool calls_sequences_, may_take_long_;
  bool is_constant_;
  bool has_begun_ = false;
  RowsBeforeError before_error_;
  OperatorPtr input_;
  ExecutionContext& context_;
};

}  // namespace

OperatorPtr make_filter(const planner::PhysicalNode&, const planner::PhysicalFilter& plan, ExecutionContext& context) {
  return std::make_unique<FilterOperator>(plan, context);
}

}  // namespace redquel::executor
