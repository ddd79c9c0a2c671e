#pragma once

#include "executor/context/execution_context.h"

namespace redquel::executor {

/// Gives one batch of its own, or all of the fallback plan's.
class IndexAnswer : public Operator {
 public:
  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (fallback_) co_return co_await fallback_->next();
    if (done_) co_return std::nullopt;
    done_ = true;
    std::optional<sql::Batch> batch = co_await answer();
    if (!batch) {
      fallback_ = context_.make_operator(*fallback_plan_);
      co_return co_await fallback_->next();
    }
    if (batch->rows == 0) co_return std::nullopt;
    co_return batch;
  }

 protected:
  IndexAnswer(const planner::PhysicalNode& node, planner::PhysicalPlan fallback, ExecutionContext& context)
      : context_(context), fallback_plan_(std::move(fallback)), counters_(node, context) {}
  /// Returns nullopt if indexes cannot answer and the fallback must run.
  virtual asio::awaitable<std::optional<sql::Batch>> answer() = 0;

  ExecutionCounters* counters() { return counters_.get(); }

  ExecutionContext& context_;

 private:
  planner::PhysicalPlan fallback_plan_;
  NodeCounters counters_;
  OperatorPtr fallback_;
  bool done_ = false;
};

}  // namespace redquel::executor
