#include "executor/operators/aggregate_call.h"

#include <algorithm>
#include <array>
#include <utility>

#include "executor/context/thread_safety.h"
#include "executor/runtime/computation.h"
#include "sql/expressions/evaluate.h"
#include "sql/interrupts.h"

namespace redquel::executor {

namespace {

std::vector<sql::ExpressionPtr> values_of(const planner::AggregateCall& call) {
  std::vector<sql::ExpressionPtr> values = call.arguments;
  for (const auto& order : call.order_by) values.push_back(order.expression);
  return values;
}

/// DISTINCT and ORDER BY move their values to disk when these are at least this part of the limit.
constexpr std::size_t kLargePart = 4;

/// PostgreSQL finds distinct values by sorting them; where their order shows in the result, it must be that order.
bool depends_on_order(const planner::AggregateCall& call) {
  static constexpr std::array<std::string_view, 6> kNever = {"count", "min", "max", "bool_and", "bool_or", "every"};
  const std::string_view name = call.function->name;
  if (std::find(kNever.begin(), kNever.end(), name) != kNever.end()) return false;
  if (name != "sum" && name != "avg") return true;
  const sql::Oid type = call.arguments[0]->type.oid;
  return type == sql::oid::kFloat4 || type == sql::oid::kFloat8;
}

}  // namespace

AggregateCallRun::AggregateCallRun(const planner::AggregateCall& call, sql::Type result, MemoryLimit limit)
    : call_(call), values_(values_of(call)), may_take_long_(may_take_long(values_of(call))), limit_(limit), row_types_{sql::kInt4} {
  limit_.leave_account();  // the operator charges all of its calls
  const std::vector<sql::ExpressionPtr> values = values_of(call);
  needed_ = columns_used(values);
  const std::vector<sql::Type> types = types_of(call.arguments);
  aggregator_ = call.function->make(types, result);
  merging_ = dynamic_cast<sql::MergingAggregator*>(aggregator_.get());
  const std::vector<sql::Type> value_types = values_.types();
  row_types_.insert(row_types_.end(), value_types.begin(), value_types.end());
  if (call.distinct) {
    distinct_ = std::make_unique<KeyTable>(std::span(row_types_).first(1 + types.size()), KeyTable::Nulls::kEqual);
  }
  if (!call.order_by.empty() || (call.distinct && depends_on_order(call))) make_order();
}

void AggregateCallRun::make_order() {
  const std::size_t arguments = call_.arguments.size();
  std::vector<SortDirection> directions = {{}};
  for (std::size_t i = 0; i < call_.order_by.size(); ++i) {
    order_.push_back(arguments + i);
    directions.push_back({call_.order_by[i].descending, call_.order_by[i].nulls_first});
  }
  // DISTINCT sorts by all arguments.
  for (std::size_t i = 0; call_.distinct && i < arguments; ++i) {
    order_.push_back(i);
    directions.push_back({});
  }
  std::vector<sql::Type> key_types = {sql::kInt4};
  for (const std::size_t value : order_) key_types.push_back(row_types_[1 + value]);
  std::vector<sql::Type> row_types(row_types_.begin(), row_types_.begin() + static_cast<std::ptrdiff_t>(1 + arguments));
  sorted_.emplace(std::move(key_types), std::move(directions), std::move(row_types), std::nullopt, limit_);
}

sql::ColumnPtr AggregateCallRun::group_column(std::span<const RowNumber> groups) {
  std::vector<std::int32_t> numbers(groups.begin(), groups.end());
  return std::make_shared<const sql::Column>(sql::Column::from_values(sql::kInt4, std::move(numbers)));
}

bool AggregateCallRun::can_merge() const {
  return !distinct_ && !sorted_ && merging_ != nullptr && are_thread_safe(call_.arguments) && are_thread_safe({&call_.filter, 1});
}

void AggregateCallRun::merge(const AggregateCallRun& other, std::span<const RowNumber> groups, std::size_t group_count) {
  merging_->merge(*other.aggregator_, groups, group_count);
}

void AggregateCallRun::update(const sql::Batch& batch, std::span<const RowNumber> groups, std::size_t group_count,
                              const sql::EvaluationContext& context) {
  if (call_.filter) {
    const std::vector<RowNumber> rows = sql::select_rows(*call_.filter, batch, context);
    if (rows.empty()) return;
    if (rows.size() < batch.rows) {
      sql::Batch filtered;  // only the columns that the arguments read
      filtered.rows = rows.size();
      filtered.columns.resize(batch.columns.size());
      for (const std::uint32_t column : needed_) {
        filtered.columns[column] = std::make_shared<const sql::Column>(batch.columns[column]->gather(rows));
      }
      std::vector<RowNumber> filtered_groups(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) filtered_groups[i] = groups[rows[i]];
      return add(filtered, filtered_groups, group_count, context);
    }
  }
  add(batch, groups, group_count, context);
}

void AggregateCallRun::add(const sql::Batch& batch, std::span<const RowNumber> groups, std::size_t group_count,
                           const sql::EvaluationContext& context) {
  if (!may_take_long_) {
    add_piece(batch, groups, group_count, context);
    return;
  }
  pieces_.begin(batch);
  while (!pieces_.is_empty()) {
    const std::size_t first = pieces_.position();
    const sql::Batch piece = pieces_.next();
    pieces_.note(add_piece(piece, groups.subspan(first, piece.rows), group_count, context));
    sql::check_interrupts();
  }
}

std::size_t AggregateCallRun::add_piece(const sql::Batch& batch, std::span<const RowNumber> groups, std::size_t group_count, const sql::EvaluationContext& context) {
  const std::vector<sql::ColumnPtr> values = values_.evaluate(batch, context);
  const std::span<const sql::ColumnPtr> arguments(values.data(), call_.arguments.size());
  std::size_t bytes = 0;
  if (may_take_long_) {
    for (const sql::ColumnPtr& value : values) bytes += value->memory();
  }
  if (!distinct_ && !sorted_) {
    aggregator_->update(arguments, groups, group_count, context);
    return bytes;
  }

  std::vector<sql::ColumnPtr> rows = {group_column(groups)};
  rows.insert(rows.end(), values.begin(), values.end());
  add_rows(rows, batch.rows, group_count, context);
  return bytes;
}

std::vector<RowNumber> AggregateCallRun::new_rows(std::span<const sql::ColumnPtr> rows, std::size_t count) {
  const std::span<const sql::ColumnPtr> keys = rows.first(1 + call_.arguments.size());
  if (!waiting_) {
    distinct_->find_or_add(keys, count, numbers_);
    return {distinct_->added().begin(), distinct_->added().end()};
  }
  distinct_->find(keys, count, numbers_);
  std::vector<RowNumber> others;
  for (std::size_t row = 0; row < count; ++row) {
    if (numbers_[row] == kNoRow) others.push_back(static_cast<RowNumber>(row));
  }
  waiting_->add(keys, rows, others);
  return {};
}

void AggregateCallRun::add_rows(std::span<const sql::ColumnPtr> rows, std::size_t count, std::size_t group_count,
                                const sql::EvaluationContext& context) {
  const std::vector<RowNumber> chosen = distinct_ ? new_rows(rows, count) : row_range(0, count);
  if (chosen.empty()) return;
  if (sorted_) {
    std::vector<sql::ColumnPtr> keys = {rows[0]};
    for (const std::size_t value : order_) keys.push_back(rows[1 + value]);
    sorted_->add(keys, rows.first(1 + call_.arguments.size()), chosen);
    return;
  }
  std::vector<sql::ColumnPtr> arguments;
  for (const sql::ColumnPtr& argument : rows.subspan(1, call_.arguments.size())) {
    arguments.push_back(std::make_shared<const sql::Column>(argument->gather(chosen)));
  }
  const std::vector<std::int32_t>& numbers = rows[0]->values<std::int32_t>();
  std::vector<RowNumber> groups(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) groups[i] = static_cast<RowNumber>(numbers[chosen[i]]);
  aggregator_->update(arguments, groups, group_count, context);
}

asio::awaitable<void> AggregateCallRun::spill() {
  const auto is_large = [this](std::size_t bytes) { return bytes > limit_.bytes() / kLargePart; };
  if (sorted_ && is_large(sorted_->memory())) co_await sorted_->spill(turn_);
  if (distinct_ && !waiting_ && is_large(distinct_->memory())) {
    limit_.check_bound(distinct_->memory());
    if (level_ < RowPartitions::kMostLevels) waiting_.emplace(row_types_, level_, limit_.temporary_space());
  }
}

asio::awaitable<void> AggregateCallRun::add_waiting(RowPartitions waiting, unsigned level, std::size_t group_count,
                                                    const sql::EvaluationContext& context) {
  for (std::size_t part = 0; part < RowPartitions::kCount; ++part) {
    if (waiting.rows(part) == 0) continue;
    const OperatorPtr source = waiting.take(part);
    distinct_->clear();
    level_ = level;
    while (std::optional<sql::Batch> batch = co_await source->next()) {
      add_rows(batch->columns, batch->rows, group_count, context);
      if (memory() > limit_.bytes()) co_await spill();
    }
    if (std::optional<RowPartitions> deeper = std::exchange(waiting_, std::nullopt)) {
      co_await add_waiting(std::move(*deeper), level + 1, group_count, context);
    }
  }
}

asio::awaitable<sql::ColumnPtr> AggregateCallRun::finish(std::size_t group_count,
                                                         const sql::EvaluationContext& context) {
  if (std::optional<RowPartitions> waiting = std::exchange(waiting_, std::nullopt)) {
    co_await add_waiting(std::move(*waiting), 1, group_count, context);
  }
  distinct_.reset();
  if (sorted_) {
    co_await sorted_->finish(turn_);
    while (true) {
      const sql::Batch batch = sorted_->next(sql::kBatchRows);
      if (batch.rows == 0) break;
      const std::vector<std::int32_t>& numbers = batch.columns[0]->values<std::int32_t>();
      const std::vector<RowNumber> groups(numbers.begin(), numbers.end());
      const std::span<const sql::ColumnPtr> arguments(batch.columns.data() + 1, batch.columns.size() - 1);
      aggregator_->update(arguments, groups, group_count, context);
      if (turn_.is_over()) co_await turn_.yield();
    }
    sorted_.reset();
  }
  auto work = [&] {
    const sql::InterruptScope interrupts(context.backend_pid);
    return aggregator_->finish(group_count, context);
  };
  sql::ColumnPtr result = co_await compute_in_turns(std::move(work));
  aggregator_.reset();
  co_return result;
}

std::size_t AggregateCallRun::memory() const {
  return aggregator_->memory() + (distinct_ ? distinct_->memory() : 0) + (sorted_ ? sorted_->memory() : 0);
}

}  // namespace redquel::executor
