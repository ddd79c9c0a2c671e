#include <algorithm>
#include <unordered_set>

#include "executor/scripts/scripts.h"
#include "executor/tables/index_answers.h"
#include "executor/tables/key_values.h"
#include "executor/tables/memory_run.h"
#include "executor/tables/read_scripts.h"
#include "sql/expressions/evaluate.h"
#include "sql/types/index_value.h"

namespace redquel::executor {

namespace {

/// Batches are gathered from the few distinct values: they may be large.
constexpr std::size_t kGatheredRows = 4 * sql::kBatchRows;

/// The values of one column, each as often as its set has members.
class IndexValuesOperator final : public Operator {
 public:
  IndexValuesOperator(const planner::PhysicalNode& node, const planner::IndexValues& plan, ExecutionContext& context)
      : plan_(plan), context_(context), counters_(node, context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!started_) {
      started_ = true;
      context_.note_read(*plan_.table);
      bool known = false;
      if (plan_.values.empty()) known = co_await read_all();
      else known = co_await read_named();
      if (known) choose();
      else fallback_ = context_.make_operator(*plan_.fallback);
    }
    if (fallback_) co_return co_await fallback_->next();
    std::vector<std::uint32_t> rows;
    while (rows.size() < kGatheredRows && value_ < counts_.size()) {
      const std::size_t count = std::min(kGatheredRows - rows.size(), counts_[value_]);
      rows.insert(rows.end(), count, static_cast<std::uint32_t>(value_));
      counts_[value_] -= count;
      if (counts_[value_] == 0) ++value_;
    }
    if (rows.empty()) co_return std::nullopt;
    sql::Batch batch;
    batch.rows = rows.size();
    batch.columns.push_back(std::make_shared<const sql::Column>(values_->gather(rows)));
    co_return batch;
  }

 private:
  sql::Type type() const { return plan_.table->find_column(plan_.column)->type; }

  asio::awaitable<bool> read_named() {
    const sql::TableKeys keys(*plan_.table);
    sql::Column texts = sql::Column::encoded(type());
    std::unordered_set<std::string> sets;
    CommandBatch batch;
    for (const sql::ExpressionPtr& value : plan_.values) {
      const auto key = evaluate_key(*plan_.table, {&plan_.column, 1}, {&value, 1}, context_.evaluation());
      if (!key) continue;
      const auto [added, is_new] = sets.insert(keys.value_set({&plan_.column, 1}, *key));
      if (!is_new) continue;
      batch.add("SCARD", *added);
      texts.append<std::string>(sql::canonical_text(type(), (*key)[0]));
    }
    values_ = std::make_shared<const sql::Column>(texts.decode());
    if (sets.empty()) co_return true;
    RepliesPtr replies = co_await context_.ask_atomic(std::move(batch), counters_.get());
    for (std::size_t i = 0; i < sets.size(); ++i) add_count(replies->integer(i));
    co_return true;
  }

  /// False: there are too many values.
  asio::awaitable<bool> read_all() {
    const sql::TableKeys keys(*plan_.table);
    const bool may_be_null = !plan_.table->find_column(plan_.column)->not_null;
    CommandBatch batch;
    append_group_counts(batch, keys.values({&plan_.column, 1}), may_be_null ? keys.null_set(plan_.column) : "", {}, limits_of_values(*plan_.fallback, context_), true);
    RepliesPtr replies = co_await context_.ask_script(kGroupCountsScript, std::move(batch), counters_.get());
    const std::optional<GroupCounts> groups = decode_group_counts((*replies)[0]);
    if (!groups) co_return false;
    sql::Column texts = sql::Column::encoded(type());
    for (std::size_t i = 0; i < groups->size(); ++i) {
      if (groups->value(i).is_nil()) texts.append_null();
      else texts.append_view(groups->value(i).text);
      add_count(groups->rows(i));
    }
    texts.keep_alive(replies);
    values_ = std::make_shared<const sql::Column>(texts.decode());
    co_return true;
  }

  void add_count(std::int64_t count) { counts_.push_back(static_cast<std::size_t>(std::max<std::int64_t>(count, 0))); }

  /// Keeps the values that there are and that satisfy the condition.
  void choose() {
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > 0) chosen.push_back(i);
    }
    if (plan_.condition) {
      const sql::Batch there{chosen.size(), {std::make_shared<const sql::Column>(values_->gather(chosen))}};
      std::vector<std::uint32_t> satisfying;
      for (const std::uint32_t row : sql::select_rows(*plan_.condition, there, context_.evaluation())) satisfying.push_back(chosen[row]);
      chosen = std::move(satisfying);
    }
    std::vector<std::size_t> counts;
    for (const std::uint32_t i : chosen) counts.push_back(counts_[i]);
    counts_ = std::move(counts);
    values_ = std::make_shared<const sql::Column>(values_->gather(chosen));
  }

  const planner::IndexValues& plan_;
  ExecutionContext& context_;
  NodeCounters counters_;
  bool started_ = false;
  sql::ColumnPtr values_;
  std::vector<std::size_t> counts_;  // of each value, how many are still to come
  std::size_t value_ = 0;
  OperatorPtr fallback_;
};

/// The scan of a copy that gives the rows from which the fallback makes its answer; null: there is none.
const planner::MemoryScan* scan_below(const planner::PhysicalNode& fallback) {
  const planner::PhysicalNode& below = planner::below_row_wise(fallback);
  if (const auto* aggregate = std::get_if<planner::PhysicalAggregate>(&below.node)) return scan_below(*aggregate->input);
  if (const auto* distinct = std::get_if<planner::PhysicalDistinct>(&below.node)) return scan_below(*distinct->input);
  if (const auto* values = std::get_if<planner::IndexValues>(&below.node)) return scan_below(*values->fallback);
  return std::get_if<planner::MemoryScan>(&below.node);
}

}  // namespace

ReadLimits limits_of_values(const planner::PhysicalNode& fallback, ExecutionContext& context) {
  constexpr double kFence = 90, kCopiedRow = 0.0055, kValue = 2;  // microseconds of redquel and Redis
  ReadLimits limits = context.limits;
  const planner::MemoryScan* const scan = scan_below(fallback);
  const auto known = scan != nullptr && context.memory ? context.memory->known(*scan, context) : std::nullopt;
  if (known) limits.values = std::min(limits.values, static_cast<std::size_t>((kFence + kCopiedRow * known->rows) / kValue));
  return limits;
}

OperatorPtr make_index_values(const planner::PhysicalNode& node, const planner::IndexValues& plan, ExecutionContext& context) {
  return std::make_unique<IndexValuesOperator>(node, plan, context);
}

}  // namespace redquel::executor
