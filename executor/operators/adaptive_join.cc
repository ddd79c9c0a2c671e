#include "executor/operators/operators.h"
#include "executor/operators/make_operator.h"
#include "executor/operators/memory_limit.h"
#include "executor/tables/lookup_join.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

namespace {

/// Batches that were read already, then the rest of their source.
class ReplayedSource final : public Operator {
 public:
  ReplayedSource(std::vector<sql::Batch> batches, OperatorPtr rest) : batches_(std::move(batches)), rest_(std::move(rest)) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (next_ < batches_.size()) co_return std::move(batches_[next_++]);
    if (!rest_) co_return std::nullopt;
    co_return co_await rest_->next();
  }

 private:
  std::vector<sql::Batch> batches_;
  OperatorPtr rest_;  // null: there is none
  std::size_t next_ = 0;
};

/// Reads outer rows until they are all there or too many for lookups; the number of rows of the inner table says how many that is.
class AdaptiveJoinOperator final : public Operator {
 public:
  AdaptiveJoinOperator(const planner::PhysicalNode& node, const planner::AdaptiveJoin& plan, ExecutionContext& context)
      : node_(node),
        plan_(plan),
        lookup_(std::get<planner::LookupJoin>(plan.lookup->node)),
        context_(context),
        outer_(make_operator(*plan.outer, context)),
        limit_(context, "join"),
        counters_(node, context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!run_) co_await choose();
    co_return co_await run_->next();
  }

 private:
  asio::awaitable<void> choose() {
    CommandBatch probe;
    probe.add("ZCARD", sql::TableKeys(*lookup_.read.table).all_rows());
    RepliesPtr size = co_await context_.ask(std::move(probe), counters_.get());
    // A lookup costs about three times what a row of a scan does.
    const auto inner_rows = static_cast<std::size_t>(size->integer(0));
    const std::size_t most = std::min(plan_.most_lookups, inner_rows / 3);
    std::vector<sql::Batch> batches;
    std::size_t rows = 0, bytes = 0;
    while (rows <= most && bytes <= limit_.bytes() / 4) {
      std::optional<sql::Batch> batch = co_await outer_->next();
      if (!batch) {
        OperatorPtr outer = std::make_unique<ReplayedSource>(std::move(batches), nullptr);
        run_ = make_lookup_join(node_, lookup_, std::move(outer), context_);
        co_return;
      }
      rows += batch->rows;
      bytes += batch->memory();
      batches.push_back(std::move(*batch));
    }
    OperatorPtr outer = std::make_unique<ReplayedSource>(std::move(batches), std::move(outer_));
    run_ = make_hash_join(std::get<planner::HashJoin>(plan_.hash->node), std::move(outer), context_);
  }

  const planner::PhysicalNode& node_;
  const planner::AdaptiveJoin& plan_;
  const planner::LookupJoin& lookup_;
  ExecutionContext& context_;
  OperatorPtr outer_;
  MemoryLimit limit_;
  NodeCounters counters_;
  OperatorPtr run_;
};

}  // namespace

OperatorPtr make_adaptive_join(const planner::PhysicalNode& node, const planner::AdaptiveJoin& plan, ExecutionContext& context) {
  return std::make_unique<AdaptiveJoinOperator>(node, plan, context);
}

}  // namespace redquel::executor
