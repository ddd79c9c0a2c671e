#include <chrono>

#include "executor/operators/operators.h"

namespace redquel::executor {

namespace {

/// EXPLAIN ANALYZE: what a node gave and how long it took, its inputs included.
class InstrumentedOperator final : public Operator {
 public:
  InstrumentedOperator(OperatorPtr inner, planner::NodeRun& run) : inner_(std::move(inner)), run_(run) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!started_) ++run_.loops;  // a node that is never asked has none
    started_ = true;
    const auto began = std::chrono::steady_clock::now();
    std::optional<sql::Batch> batch = co_await inner_->next();
    run_.milliseconds += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    if (batch) run_.rows += batch->rows;
    co_return batch;
  }

  void leave_out(std::size_t column, const KeyFilterPtr& filter) override { inner_->leave_out(column, filter); }

 private:
  OperatorPtr inner_;
  bool started_ = false;
  planner::NodeRun& run_;  // elements of a map stay where they are
};

}  // namespace

OperatorPtr make_instrumented(const planner::PhysicalNode& node, OperatorPtr inner, ExecutionContext& context) {
  return std::make_unique<InstrumentedOperator>(std::move(inner), (*context.statistics)[&node]);
}

}  // namespace redquel::executor
