#include <algorithm>
#include <cassert>

#include "executor/context/memory_limit.h"
#include "executor/operators/column_types.h"
#include "executor/operators/expression_list.h"
#include "executor/operators/external_sort.h"
#include "executor/operators/group_changes.h"
#include "executor/operators/operators.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/tables/key_values.h"
#include "sql/types/index_value.h"

namespace redquel::executor {

namespace {

std::vector<sql::ExpressionPtr> expressions_of(const std::vector<planner::SortKey>& keys) {
  std::vector<sql::ExpressionPtr> expressions;
  for (const planner::SortKey& key : keys) expressions.push_back(key.expression);
  return expressions;
}

std::vector<SortDirection> directions_of(const std::vector<planner::SortKey>& keys) {
  std::vector<SortDirection> directions;
  for (const planner::SortKey& key : keys) directions.push_back({key.descending, key.nulls_first});
  return directions;
}

/// Where nodes above look something up for each row, each batch is so many times as large as the one before.
constexpr std::size_t kWindowGrowth = 4;

/// The common part of both sorts.
class SortOperator : public Operator {
 protected:
  SortOperator(const planner::PhysicalSort& plan, ExecutionContext& context)
      : plan_(plan),
        keys_(expressions_of(plan.keys)),
        types_(column_types(*plan.input)),
        input_(context.make_operator(*plan.input)),
        context_(context),
        limit_(context, "sort") {}

  std::optional<std::uint64_t> wanted() const {
    return evaluate_goal(plan_.goal.limit, plan_.goal.offset, context_.evaluation()).wanted();
  }
  ExternalSort new_buffer(std::optional<std::uint64_t> wanted) const {
    return {keys_.types(), directions_of(plan_.keys), types_, wanted, limit_};
  }
  std::vector<sql::ColumnPtr> keys_of(const sql::Batch& batch) const {
    return keys_.evaluate(batch, context_.evaluation());
  }

  const planner::PhysicalSort& plan_;
  ExpressionList keys_;
  std::vector<sql::Type> types_;
  OperatorPtr input_;
  ExecutionContext& context_;
  MemoryLimit limit_;
  EventLoopTurn turn_;
};

/// Reads everything, then gives it in order.
class WholeSortOperator final : public SortOperator {
 public:
  WholeSortOperator(const planner::PhysicalSort& plan, ExecutionContext& context) : SortOperator(plan, context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!buffer_) {
      std::optional<std::uint64_t> wanted = this->wanted();
      if (plan_.goal.open) {  // other rows may be asked for, too
        if (wanted) window_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(*wanted + 1 + *wanted / 8, 1, sql::kBatchRows));
        wanted.reset();
      }
      buffer_ = new_buffer(wanted);
      if (!wanted || *wanted > 0) co_await read();
      co_await buffer_->finish(turn_);
    }
    if (turn_.is_over()) co_await turn_.yield();
    sql::Batch batch = buffer_->next(window_);
    window_ = std::min(window_ * kWindowGrowth, sql::kBatchRows);
    if (batch.rows == 0) co_return std::nullopt;
    co_return batch;
  }

 private:
  asio::awaitable<void> read() {
    while (true) {
      std::optional<sql::Batch> batch = co_await input_->next();
      if (!batch) break;
      const std::vector<sql::ColumnPtr> keys = keys_of(*batch);
      const std::vector<RowNumber> rows = row_range(0, batch->rows);
      buffer_->add(keys, batch->columns, rows);
      if (buffer_->is_full()) co_await buffer_->spill(turn_);
      if (turn_.is_over()) co_await turn_.yield();
    }
    input_.reset();
  }

  std::optional<ExternalSort> buffer_;
  std::size_t window_ = sql::kBatchRows;  // rows of the next batch
};

/// Returns true if the ordered index that gave the input its order cannot distinguish two values: equal scores, equal member prefixes.
bool have_same_form(const sql::Column& a, std::size_t row_a, const sql::Column& b, std::size_t row_b) {
  if (a.is_null(row_a) || b.is_null(row_b)) return a.is_null(row_a) == b.is_null(row_b);
  const sql::Type type = a.type();
  const sql::Datum value_a = a.datum(row_a), value_b = b.datum(row_b);
  if (sql::has_score(type)) return sql::score_of(type, value_a) == sql::score_of(type, value_b);
  return sql::ordered_member_prefix(type, value_a) == sql::ordered_member_prefix(type, value_b);
}

/// The input comes ordered by its leading keys: rows that are equal in them are a group, and what lies before the last
/// change of groups can be sorted and given.
class IncrementalSortOperator final : public SortOperator {
 public:
  IncrementalSortOperator(const planner::PhysicalSort& plan, ExecutionContext& context) : SortOperator(plan, context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!started_) {
      started_ = true;
      wanted_ = wanted();
      buffer_ = new_buffer(wanted_);
    }
    while (!wanted_ || *wanted_ > 0) {
      if (turn_.is_over()) co_await turn_.yield();
      if (draining_) {
        sql::Batch batch = buffer_->next(sql::kBatchRows);
        if (batch.rows > 0) {
          if (wanted_) *wanted_ -= batch.rows;
          co_return batch;
        }
        if (!input_) co_return std::nullopt;
        co_await restart();
      }
      std::optional<sql::Batch> batch = co_await input_->next();
      if (batch) {
        co_await take(std::move(*batch));
      } else {
        input_.reset();
        co_await drain();
      }
    }
    co_return std::nullopt;
  }

 private:
  asio::awaitable<void> take(sql::Batch batch) {
    std::vector<sql::ColumnPtr> keys = keys_of(batch);
    const auto is_same = [this](const GroupKeys& a, std::size_t row_a, const GroupKeys& b, std::size_t row_b) { return is_same_group(a, row_a, b, row_b); };
    const std::optional<std::size_t> change = changes_.take({keys.data(), plan_.presorted}, batch.rows, is_same);
    if (!change) {
      co_await add(keys, batch, 0, batch.rows);
      co_return;
    }
    co_await add(keys, batch, 0, *change);
    pending_keys_ = std::move(keys);
    pending_ = std::move(batch);
    pending_from_ = *change;
    co_await drain();
  }

  asio::awaitable<void> add(std::span<const sql::ColumnPtr> keys, const sql::Batch& batch, std::size_t begin,
                            std::size_t end) {
    if (begin == end) co_return;
    const std::vector<RowNumber> rows = row_range(begin, end - begin);
    buffer_->add(keys, batch.columns, rows);
    if (buffer_->is_full()) co_await buffer_->spill(turn_);
  }

  asio::awaitable<void> drain() {
    co_await buffer_->finish(turn_);
    draining_ = true;
  }

  /// The group that the last change began is what the next buffer begins with.
  asio::awaitable<void> restart() {
    draining_ = false;
    buffer_ = new_buffer(wanted_);
    if (!pending_) co_return;
    co_await add(pending_keys_, *pending_, pending_from_, pending_->rows);
    pending_.reset();
    pending_keys_.clear();
  }

  bool is_same_group(const GroupKeys& keys_a, std::size_t row_a, const GroupKeys& keys_b, std::size_t row_b) const {
    const KeyViews &a = keys_a.views, &b = keys_b.views;
    if (equal_rows(a, row_a, b, row_b)) return true;
    if (!plan_.presorted_by_form) return false;
    const std::size_t last = plan_.presorted - 1;
    for (std::size_t i = 0; i < last; ++i) {
      const bool null_a = a[i].is_null(row_a), null_b = b[i].is_null(row_b);
      if (null_a || null_b ? null_a != null_b : !equal_values(a[i], row_a, b[i], row_b)) return false;
    }
    return have_same_form(*keys_a.columns[last], row_a, *keys_b.columns[last], row_b);
  }

  bool started_ = false, draining_ = false;
  std::optional<std::uint64_t> wanted_;  // rows still to give
  std::optional<ExternalSort> buffer_;
  GroupChanges changes_;
  std::optional<sql::Batch> pending_;  // its rows from pending_from_ on wait for the next buffer
  std::vector<sql::ColumnPtr> pending_keys_;
  std::size_t pending_from_ = 0;
};

}  // namespace

OperatorPtr make_sort(const planner::PhysicalNode&, const planner::PhysicalSort& plan, ExecutionContext& context) {
  assert(plan.presorted <= plan.keys.size());
  if (plan.presorted == 0) return std::make_unique<WholeSortOperator>(plan, context);
  return std::make_unique<IncrementalSortOperator>(plan, context);
}

}  // namespace redquel::executor
