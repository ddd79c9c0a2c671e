#include <algorithm>
#include <deque>
#include <map>

#include "executor/context/memory_limit.h"
#include "executor/context/morsels.h"
#include "executor/context/thread_safety.h"
#include "executor/memory/table_memory.h"
#include "executor/operators/aggregate_call.h"
#include "executor/operators/column_types.h"
#include "executor/operators/correlated_subquery.h"
#include "executor/operators/key_table.h"
#include "executor/operators/operators.h"
#include "executor/operators/shared_aggregation.h"
#include "executor/operators/spill_file.h"
#include "executor/runtime/computation.h"
#include "sql/interrupts.h"

namespace redquel::executor {

namespace {

/// Columns that at least two of the aggregate's expressions read: decoded once for all of them.
std::vector<std::uint32_t> shared_columns(const planner::PhysicalAggregate& plan) {
  std::map<std::uint32_t, std::size_t> uses;
  const auto note = [&](const sql::ExpressionPtr& expression) {
    for (const std::uint32_t column : columns_used({&expression, 1})) ++uses[column];
  };
  for (const sql::ExpressionPtr& key : plan.group_by) note(key);
  for (const planner::AggregateCall& call : plan.calls) {
    for (const sql::ExpressionPtr& argument : call.arguments) note(argument);
    for (const auto& order : call.order_by) note(order.expression);
    note(call.filter);
  }
  std::vector<std::uint32_t> columns;
  for (const auto& [column, count] : uses) {
    if (count > 1) columns.push_back(column);
  }
  return columns;
}

bool calls_may_take_long(const planner::PhysicalAggregate& plan) {
  return may_take_long(plan.group_by) ||
         std::ranges::any_of(plan.calls, [](const planner::AggregateCall& call) { return may_take_long(call.arguments) || may_take_long({&call.filter, 1}); });
}

/// Groups by hashing: a batch's rows get the numbers of their groups, then each call takes the batch as a whole. When
/// there is no room for more groups, rows of others wait on disk, by hash, until those in memory have been given.
class AggregateOperator final : public Operator {
 public:
  AggregateOperator(const planner::PhysicalNode& node, const planner::PhysicalAggregate& plan, OperatorPtr input,
                    ExecutionContext& context, unsigned level = 0)
      : node_(node),
        plan_(plan),
        input_(std::move(input)),
        context_(context),
        level_(level),
        shared_(shared_columns(plan)),
        group_by_(plan.group_by),
        groups_(group_by_.types(), KeyTable::Nulls::kEqual),
        keeps_input_(plan.scalar && begins_anew(*plan.input, context)),
        may_take_long_(calls_may_take_long(plan)),
        limit_(context, "hash aggregate") {}

  /// Without groups it begins anew when it is asked again after the end, if its input does.
  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!std::exchange(has_read_, true)) co_await read();
    if (turn_.is_over()) co_await turn_.yield();
    const std::size_t count = std::min(sql::kBatchRows, group_count_ - next_);
    if (count == 0 && keeps_input_) {
      begin_anew();
      co_return std::nullopt;
    }
    if (count == 0) co_return co_await next_of_parts();
    const std::vector<RowNumber> rows = row_range(next_, count);
    next_ += count;
    sql::Batch batch = groups_.keys().gather(rows);
    batch.rows = count;
    for (const sql::ColumnPtr& result : results_) {
      batch.columns.push_back(count == group_count_ ? result
                                                    : std::make_shared<const sql::Column>(result->gather(rows)));
    }
    co_return batch;
  }

 private:
  void begin_anew() {
    has_read_ = false;
    calls_.clear();
    results_.clear();
    next_ = group_count_ = 0;
  }

  asio::awaitable<void> read() {
    add_calls(calls_);
    if (plan_.scalar) group_count_ = 1;
    if (!keeps_input_) co_await read_shared();
    while (true) {
      std::optional<sql::Batch> batch = co_await input_->next();
      if (!batch) break;
      auto take = [&] { return update(with_decoded(*batch, shared_)), true; };
      if (may_take_long_) co_await compute_in_turns(std::move(take));
      else take();
      // Asking the calls costs time in proportion to the groups.
      rows_since_check_ += batch->rows;
      if (rows_since_check_ >= std::max<std::size_t>(kCheckRows, group_count_)) co_await check_memory();
      if (turn_.is_over()) co_await turn_.yield();
    }
    if (!keeps_input_) input_.reset();
    co_await check_memory();
    for (AggregateCallRun& call : calls_) {
      sql::ColumnPtr result = co_await call.finish(group_count_, context_.evaluation());
      results_.push_back(std::move(result));
    }
  }

  /// Lets several threads read the input, if it is a copy in memory and they are free. What they leave is read as usual.
  asio::awaitable<void> read_shared() {
    const bool can_merge = std::ranges::all_of(calls_, [](const AggregateCallRun& call) { return call.can_merge(); });
    if (context_.table_memory == nullptr || !context_.memory || level_ > 0 || !can_merge || !are_thread_safe(plan_.group_by)) co_return;
    WorkerPool& pool = context_.table_memory->workers();
    const std::size_t workers = pool.workers();
    if (!pool.has_threads()) co_return;
    std::unique_ptr<Morsels> morsels = co_await share(*input_, workers);
    if (!morsels) co_return;
    if (const std::unique_ptr<WorkerPool::Lease> lease = pool.take()) {
      std::deque<SharedAggregation::Part> parts;
      for (std::size_t worker = 0; worker < workers; ++worker) {
        add_calls(parts.emplace_back(KeyTable(group_by_.types(), KeyTable::Nulls::kEqual), context_.account.get()).calls);
      }
      SharedAggregation aggregation(*morsels, group_by_, shared_, context_.evaluation(), std::move(parts), limit_.bytes() / 2 / workers);
      co_await lease->run(aggregation);
      for (const SharedAggregation::Part& part : aggregation.parts()) co_await merge(part);
    }
    input_ = std::make_unique<RestOfMorsels>(std::move(input_), std::move(morsels), workers);
  }

  asio::awaitable<void> merge(const SharedAggregation::Part& part) {
    std::vector<RowNumber> numbers(part.group_count);  // of the part's groups
    for (std::size_t first = 0; first < part.group_count && !plan_.scalar; first += sql::kBatchRows) {
      const std::size_t count = std::min(sql::kBatchRows, part.group_count - first);
      groups_.find_or_add(part.groups.keys().gather(row_range(first, count)).columns, count, numbers_);
      std::ranges::copy(numbers_, numbers.begin() + static_cast<std::ptrdiff_t>(first));
      group_count_ = groups_.size();
      if (turn_.is_over()) co_await turn_.yield();
    }
    for (std::size_t i = 0; i < calls_.size(); ++i) calls_[i].merge(part.calls[i], numbers, group_count_);
  }

  void add_calls(std::deque<AggregateCallRun>& calls) {
    for (std::size_t i = 0; i < plan_.calls.size(); ++i) calls.emplace_back(plan_.calls[i], node_.columns[group_by_.size() + i].type, limit_);
  }

  void update(sql::Batch batch) {
    const sql::InterruptScope interrupts(context_.evaluation().backend_pid);
    if (plan_.scalar) {
      numbers_.assign(batch.rows, 0);
    } else {
      const std::vector<sql::ColumnPtr> keys = group_by_.evaluate(batch, context_.evaluation());
      if (partitions_) {
        groups_.find(keys, batch.rows, numbers_);
        batch = leave_known(batch, keys);
        if (batch.rows == 0) return;
      } else {
        groups_.find_or_add(keys, batch.rows, numbers_);
        group_count_ = groups_.size();
      }
    }
    for (AggregateCallRun& call : calls_) call.update(batch, numbers_, group_count_, context_.evaluation());
  }

  /// Rows of groups that are not in memory go to disk; the others' numbers stay.
  sql::Batch leave_known(const sql::Batch& batch, std::span<const sql::ColumnPtr> keys) {
    std::vector<RowNumber> known, others;
    for (std::size_t row = 0; row < batch.rows; ++row) {
      (numbers_[row] == kNoRow ? others : known).push_back(static_cast<RowNumber>(row));
    }
    if (others.empty()) return batch;
    partitions_->add(keys, batch.columns, others);
    std::erase(numbers_, kNoRow);
    return batch.gather(known);
  }

  asio::awaitable<void> check_memory() {
    rows_since_check_ = 0;
    if (!limit_.is_exceeded(memory())) co_return;
    for (AggregateCallRun& call : calls_) co_await call.spill();
    limit_.check_bound(memory());
    if (plan_.scalar || partitions_ || level_ == RowPartitions::kMostLevels) co_return;
    partitions_.emplace(column_types(*plan_.input), level_, limit_.temporary_space());
  }

  std::size_t memory() const {
    std::size_t bytes = groups_.memory();
    for (const AggregateCallRun& call : calls_) bytes += call.memory();
    return bytes;
  }

  asio::awaitable<std::optional<sql::Batch>> next_of_parts() {
    if (!partitions_) co_return std::nullopt;
    if (next_ > 0) {  // the groups in memory have been given
      groups_.clear();
      limit_.release();
      results_.clear();
      next_ = group_count_ = 0;
    }
    while (true) {
      if (part_run_) {
        std::optional<sql::Batch> batch = co_await part_run_->next();
        if (batch) co_return batch;
        part_run_.reset();
      }
      if (part_ == RowPartitions::kCount) co_return std::nullopt;
      OperatorPtr rows = partitions_->take(part_++);
      part_run_ = std::make_unique<AggregateOperator>(node_, plan_, std::move(rows), context_, level_ + 1);
    }
  }

  static constexpr std::size_t kCheckRows = sql::kBatchRows;

  const planner::PhysicalNode& node_;
  const planner::PhysicalAggregate& plan_;
  OperatorPtr input_;  // null when it has been read, unless it is kept
  bool has_read_ = false;
  ExecutionContext& context_;
  unsigned level_;
  std::vector<std::uint32_t> shared_;
  ExpressionList group_by_;
  KeyTable groups_;
  const bool keeps_input_;  // it may be asked again
  const bool may_take_long_;
  MemoryLimit limit_;
  std::deque<AggregateCallRun> calls_;
  EventLoopTurn turn_;
  std::size_t rows_since_check_ = 0;
  std::vector<RowNumber> numbers_;  // of the groups of a batch's rows

  std::size_t group_count_ = 0;
  std::vector<sql::ColumnPtr> results_;  // one per call
  std::size_t next_ = 0;                 // group

  std::optional<RowPartitions> partitions_;
  std::size_t part_ = 0;
  OperatorPtr part_run_;
};

}  // namespace

OperatorPtr make_aggregate(const planner::PhysicalNode& node, const planner::PhysicalAggregate& plan,
                           ExecutionContext& context) {
  if (plan.in_order) return make_group_aggregate(node, plan, context);
  return make_hash_aggregate(node, plan, context.make_operator(*plan.input), context);
}

OperatorPtr make_hash_aggregate(const planner::PhysicalNode& node, const planner::PhysicalAggregate& plan, OperatorPtr rows, ExecutionContext& context) {
  return std::make_unique<AggregateOperator>(node, plan, std::move(rows), context);
}

}  // namespace redquel::executor
