#include <algorithm>
#include <chrono>
#include <vector>

#include "executor/context/morsels.h"
#include "executor/operators/operators.h"

namespace redquel::executor {

namespace {

/// Counts rows of all workers; the time is that of the busiest one.
class InstrumentedMorsels final : public Morsels {
 public:
  InstrumentedMorsels(std::unique_ptr<Morsels> inner, planner::NodeRun& run, std::size_t workers) : inner_(std::move(inner)), run_(run), counts_(workers) {}
  ~InstrumentedMorsels() override {
    double busiest = 0;
    for (const Count& count : counts_) {
      run_.rows += count.rows;
      busiest = std::max(busiest, count.milliseconds);
    }
    run_.milliseconds += busiest;
  }

  std::optional<sql::Batch> next(std::size_t worker) override {
    const auto began = std::chrono::steady_clock::now();
    std::optional<sql::Batch> batch = inner_->next(worker);
    counts_[worker].milliseconds += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    if (batch) counts_[worker].rows += batch->rows;
    return batch;
  }

 private:
  struct Count {
    std::size_t rows = 0;
    double milliseconds = 0;
  };
  const std::unique_ptr<Morsels> inner_;
  planner::NodeRun& run_;
  std::vector<Count> counts_;  // by worker
};

/// EXPLAIN ANALYZE: what a node gave and how long it took, its inputs included.
class InstrumentedOperator final : public Operator, public SharedOperator {
 public:
  InstrumentedOperator(OperatorPtr inner, planner::NodeRun& run) : inner_(std::move(inner)), run_(run) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!started_) ++run_.loops;  // a node that is never asked has none
    started_ = true;
    const auto began = std::chrono::steady_clock::now();
    std::optional<sql::Batch> batch = co_await inner_->next();
    const double milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    run_.milliseconds += milliseconds;
    if (!has_rows_) run_.first_milliseconds += milliseconds;
    if (batch) run_.rows += batch->rows;
    has_rows_ = has_rows_ || (batch && batch->rows > 0);
    co_return batch;
  }

  asio::awaitable<std::unique_ptr<Morsels>> share(std::size_t workers) override {
    const auto began = std::chrono::steady_clock::now();
    std::unique_ptr<Morsels> inner = co_await executor::share(*inner_, workers);
    // A join reads its inputs before it shares its rows out, or cannot.
    const double milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    run_.milliseconds += milliseconds;
    run_.first_milliseconds += milliseconds;
    if (!inner) co_return nullptr;
    ++run_.loops;
    co_return std::make_unique<InstrumentedMorsels>(std::move(inner), run_, workers);
  }

  void leave_out(std::size_t column, const KeyFilterPtr& filter) override { inner_->leave_out(column, filter); }

 private:
  OperatorPtr inner_;
  bool started_ = false, has_rows_ = false;
  planner::NodeRun& run_;  // elements of a map stay where they are
};

}  // namespace

OperatorPtr make_instrumented(const planner::PhysicalNode& node, OperatorPtr inner, ExecutionContext& context) {
  return std::make_unique<InstrumentedOperator>(std::move(inner), (*context.statistics)[&node]);
}

}  // namespace redquel::executor
