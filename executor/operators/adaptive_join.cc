#include "executor/context/memory_limit.h"
#include "executor/context/morsels.h"
#include "executor/operators/operators.h"
#include "executor/operators/replayed_source.h"
#include "executor/operators/vector_source.h"
#include "executor/tables/lookup_join.h"
#include "executor/tables/lookup_keys.h"
#include "executor/tables/member_rows.h"
#include "executor/tables/memory_run.h"
#include "executor/tables/set_program.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

namespace {

using By = planner::LookupJoin::By;

/// Rows that lookups may find for all outer rows together: one batch of these may name them all.
constexpr std::size_t kMostFoundRows = 20000;
/// … and pairs of outer rows with these, for each row that they may have.
constexpr std::size_t kMostPairsPerRow = 4;

/// Outer rows that are looked up however few rows the inner table has: to ask for their number would cost a round trip.
constexpr std::size_t kFewRows = 100;

/// Microseconds of a lookup or of a row that it finds, of a fence, and of a row of a copy whose key is compared.
constexpr double kLookup = 3, kFence = 90, kComparedRow = 0.004;

/// Reads outer rows until they are all there or too many for lookups; the number of rows of the inner table says how many that is, and
/// where each of them finds several, the sizes of their sets. A copy in memory is read faster than many rows are looked up.
class AdaptiveJoinOperator final : public Operator, public SharedOperator {
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

  asio::awaitable<std::unique_ptr<Morsels>> share(std::size_t workers) override {
    if (!run_) co_await choose();
    co_return co_await executor::share(*run_, workers);
  }

  void leave_out(std::size_t column, const KeyFilterPtr& filter) override {
    if (run_) return run_->leave_out(column, filter);
    if (column < plan_.outer->columns.size()) outer_->leave_out(column, filter);
    else filters_.emplace_back(column, filter);
  }

 private:
  /// Rows that lookups may ask for and find.
  struct Bounds {
    std::size_t outer, found;
  };

  asio::awaitable<void> choose() {
    const auto* scan = std::get_if<planner::MemoryScan>(&std::get<planner::HashJoin>(plan_.hash->node).right->node);
    std::optional<MemoryRun::Known> copy;
    if (scan != nullptr && context_.memory) copy = context_.memory->known(*scan, context_);
    const std::size_t worth = copy ? static_cast<std::size_t>((kFence + kComparedRow * copy->rows) / kLookup) : plan_.most_lookups;
    // Where a copy serves more outer rows than a few, they were found to be more a moment ago.
    const void* read_alone = &plan_.outer;
    if (!copy || !context_.is_known_cheap(read_alone)) {
      if (co_await read_with_members(std::min(worth, context_.limits.script_rows))) co_return;
      if (copy) context_.remember_cheap(read_alone);
    }
    if (copy) {
      bool looks_up = co_await is_within({std::min(plan_.most_lookups, worth), worth});
      if (!looks_up) {
        const MemoryRun::Table& state = *co_await context_.memory->state_of(scan->read.table->oid, context_);
        if (!state.version) looks_up = co_await is_within(co_await bounds_of_redis());
      }
      start(looks_up);
    } else {
      bool looks_up = false;
      const Bounds few{kFewRows, kFewRows};
      if (!finds_several()) looks_up = co_await is_within(few);
      if (!looks_up) {
        const Bounds bounds = co_await bounds_of_redis();
        looks_up = co_await is_within(bounds);
      }
      start(looks_up);
    }
    for (const auto& [column, filter] : filters_) run_->leave_out(column, filter);
  }

  /// Reads outer rows and inner ones by one command. Returns false if that is not possible, or would be more than so many rows.
  asio::awaitable<bool> read_with_members(std::size_t most_rows) {
    const std::optional<planner::MemberLookup> members = planner::member_lookup(lookup_);
    if (!members || most_rows == 0) co_return false;
    std::optional<sql::Batch> joined = co_await read_member_rows(lookup_, *members, most_rows, context_, counters_.get());
    if (!joined) co_return false;
    std::vector<sql::Batch> batches;
    batches.push_back(std::move(*joined));
    run_ = std::make_unique<VectorSource>(std::move(batches));
    co_return true;
  }

  asio::awaitable<Bounds> bounds_of_redis() {
    CommandBatch probe;
    if (const std::optional<std::string> set = set_of_scan()) probe.add("SCARD", *set);
    else for (const auto& stored : sql::stored_tables(lookup_.read.table)) probe.add("ZCARD", sql::TableKeys(*stored).all_rows());
    RepliesPtr sizes = co_await context_.ask(std::move(probe), counters_.get());
    // A lookup costs about three times what a row of a scan does.
    std::size_t inner_rows = 0;
    for (std::size_t index = 0; index < sizes->size(); ++index) inner_rows += static_cast<std::size_t>(sizes->integer(index));
    co_return Bounds{std::min(plan_.most_lookups, inner_rows / 3), std::min(kMostFoundRows, inner_rows / 3)};
  }

  /// Returns the set that holds all rows which the hash join reads of the inner table; nullopt: it reads the table, or several sets.
  std::optional<std::string> set_of_scan() const {
    const planner::PhysicalNode* right = std::get<planner::HashJoin>(plan_.hash->node).right.get();
    if (const auto* copy = std::get_if<planner::MemoryScan>(&right->node)) right = copy->otherwise.get();
    const auto* scan = std::get_if<planner::SetScan>(&right->node);
    if (scan == nullptr || !scan->sets.operands.empty()) return {};
    const std::optional<EvaluatedSets> sets = evaluate_sets(scan->sets, *scan->read.table, context_.evaluation());
    return sets && sets->is_leaf() && sets->kind != planner::SetExpression::Kind::kRange ? std::optional(sets->key) : std::nullopt;
  }

  void start(bool looks_up) {
    OperatorPtr outer = std::make_unique<ReplayedSource>(std::move(batches_), std::move(outer_));
    if (looks_up) run_ = make_lookup_join(node_, lookup_, std::move(outer), context_);
    else run_ = make_hash_join(std::get<planner::HashJoin>(plan_.hash->node), std::move(outer), context_);
  }

  /// Reads outer rows. Returns true if they are all there, and lookups for them keep the bounds.
  asio::awaitable<bool> is_within(Bounds bounds) {
    while (outer_ && rows_ <= bounds.outer && bytes_ <= limit_.bytes() / 4) {
      std::optional<sql::Batch> batch = co_await outer_->next();
      if (!batch) {
        outer_.reset();
        break;
      }
      rows_ += batch->rows;
      bytes_ += batch->memory();
      batches_.push_back(std::move(*batch));
    }
    bool is_within = !outer_ && rows_ <= bounds.outer;
    if (is_within && finds_several()) is_within = co_await find_at_most(bounds.found, batches_);
    co_return is_within;
  }

  bool finds_several() const { return lookup_.by == By::kSet || lookup_.by == By::kKeyStart; }

  /// Returns true if the keys of the outer rows find at most so many rows in total. Rows that many outer rows find must not form too many
  /// pairs either: a hash join also uses the join's other equalities.
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
  OperatorPtr outer_;  // null: it has been read
  MemoryLimit limit_;
  NodeCounters counters_;
  std::vector<sql::Batch> batches_;  // of the outer input
  std::size_t rows_ = 0, bytes_ = 0;
  std::vector<std::pair<std::size_t, KeyFilterPtr>> filters_;  // for columns of the inner table
  OperatorPtr run_;
};

}  // namespace

OperatorPtr make_adaptive_join(const planner::PhysicalNode& node, const planner::AdaptiveJoin& plan, ExecutionContext& context) {
  return std::make_unique<AdaptiveJoinOperator>(node, plan, context);
}

}  // namespace redquel::executor
