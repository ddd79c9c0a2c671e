#include "executor/context/memory_limit.h"
#include "executor/operators/operators.h"
#include "executor/tables/lookup_join.h"
#include "executor/tables/lookup_keys.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

namespace {

using By = planner::LookupJoin::By;

/// Rows that lookups may find for all outer rows together: one batch of these may name them all.
constexpr std::size_t kMostFoundRows = 20000;
/// … and pairs of outer rows with these, for each row that they may have.
constexpr std::size_t kMostPairsPerRow = 4;

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

/// Reads outer rows until they are all there or too many for lookups; the number of rows of the inner table says how many that is, and
/// where each of them finds several, the sizes of their sets.
class AdaptiveJoinOperator final : public Operator {
 public:
  AdaptiveJoinOperator(const planner::PhysicalNode& node, const planner::AdaptiveJoin& plan, ExecutionContext& context)
      : node_(node),
        plan_(plan),
        lookup_(std::get<planner::LookupJoin>(plan.lookup->node)),
        context_(context),
        outer_(context.make_operator(*plan.outer)),
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
        bool are_few = true;
        if (finds_several()) are_few = co_await find_at_most(std::min(kMostFoundRows, inner_rows / 3), batches);
        OperatorPtr outer = std::make_unique<ReplayedSource>(std::move(batches), nullptr);
        if (are_few) run_ = make_lookup_join(node_, lookup_, std::move(outer), context_);
        else run_ = make_hash_join(std::get<planner::HashJoin>(plan_.hash->node), std::move(outer), context_);
        co_return;
      }
      rows += batch->rows;
      bytes += batch->memory();
      batches.push_back(std::move(*batch));
    }
    OperatorPtr outer = std::make_unique<ReplayedSource>(std::move(batches), std::move(outer_));
    run_ = make_hash_join(std::get<planner::HashJoin>(plan_.hash->node), std::move(outer), context_);
  }

  bool finds_several() const { return lookup_.by == By::kSet || lookup_.by == By::kKeyStart; }

  /// Do the keys that the outer rows name find no more rows than so many, together? What many outer rows find must not be paired with
  /// each of them too often either: a hash join knows more of them by the join's other equalities.
  asio::awaitable<bool> find_at_most(std::size_t most_rows, const std::vector<sql::Batch>& outer) {
    const sql::TableKeys keys(*lookup_.read.table);
    CommandBatch sizes;
    std::vector<std::size_t> users;  // outer rows of each key
    for (const sql::Batch& batch : outer) {
      const LookupKeys found = lookup_keys(lookup_, keys, batch, context_.evaluation());
      for (const std::string& name : found.names) {
        if (lookup_.by == By::kSet) sizes.add("SCARD", name);
        else sizes.add("ZLEXCOUNT", keys.all_rows(), "[" + name, end_of_start(name));
      }
      const std::size_t first = users.size();
      users.resize(first + found.names.size());
      for (const auto& key : found.of_rows) {
        if (key) ++users[first + *key];
      }
    }
    if (users.empty()) co_return true;
    const RepliesPtr replies = co_await context_.ask(std::move(sizes), counters_.get());
    std::size_t rows = 0, pairs = 0;
    for (std::size_t i = 0; i < users.size(); ++i) {
      const auto size = static_cast<std::size_t>(replies->integer(i));
      rows += size;
      pairs += size * users[i];
    }
    co_return rows <= most_rows && pairs <= kMostPairsPerRow * most_rows;
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
