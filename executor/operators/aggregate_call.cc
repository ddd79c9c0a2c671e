#include "executor/operators/aggregate_call.h"

#include <algorithm>
#include <array>

#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

std::vector<sql::ExpressionPtr> values_of(const planner::AggregateCall& call) {
  std::vector<sql::ExpressionPtr> values = call.arguments;
  for (const auto& order : call.order_by) values.push_back(order.expression);
  return values;
}

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

AggregateCallRun::AggregateCallRun(const planner::AggregateCall& call, sql::Type result)
    : call_(call), values_(values_of(call)) {
  const std::vector<sql::ExpressionPtr> values = values_of(call);
  needed_ = columns_used(values);
  const std::vector<sql::Type> types = types_of(call.arguments);
  aggregator_ = call.function->make(types, result);
  if (call.distinct) {
    std::vector<sql::Type> keys = {sql::kInt4};
    keys.insert(keys.end(), types.begin(), types.end());
    distinct_ = std::make_unique<KeyTable>(keys, KeyTable::Nulls::kEqual);
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
  const std::vector<sql::Type> types = values_.types();
  std::vector<sql::Type> key_types = {sql::kInt4}, row_types = {sql::kInt4};
  for (const std::size_t value : order_) key_types.push_back(types[value]);
  row_types.insert(row_types.end(), types.begin(), types.begin() + static_cast<std::ptrdiff_t>(arguments));
  sorted_.emplace(std::move(key_types), std::move(directions), std::move(row_types));
}

sql::ColumnPtr AggregateCallRun::group_column(std::span<const RowNumber> groups) {
  std::vector<std::int32_t> numbers(groups.begin(), groups.end());
  return std::make_shared<const sql::Column>(sql::Column::from_values(sql::kInt4, std::move(numbers)));
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
  const std::vector<sql::ColumnPtr> values = values_.evaluate(batch, context);
  const std::span<const sql::ColumnPtr> arguments(values.data(), call_.arguments.size());
  if (!distinct_ && !sorted_) return aggregator_->update(arguments, groups, group_count, context);

  std::vector<sql::ColumnPtr> rows = {group_column(groups)};
  rows.insert(rows.end(), arguments.begin(), arguments.end());
  std::vector<RowNumber> chosen;
  if (distinct_) {
    distinct_->find_or_add(rows, batch.rows, numbers_);
    chosen.assign(distinct_->added().begin(), distinct_->added().end());
  } else {
    chosen = row_range(0, batch.rows);
  }
  if (chosen.empty()) return;
  if (sorted_) {
    std::vector<sql::ColumnPtr> keys = {rows[0]};
    for (const std::size_t value : order_) keys.push_back(values[value]);
    sorted_->add(keys, rows, chosen);
    return;
  }
  std::vector<sql::ColumnPtr> chosen_arguments;
  for (const sql::ColumnPtr& argument : arguments) {
    chosen_arguments.push_back(std::make_shared<const sql::Column>(argument->gather(chosen)));
  }
  std::vector<RowNumber> chosen_groups(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen_groups[i] = groups[chosen[i]];
  aggregator_->update(chosen_arguments, chosen_groups, group_count, context);
}

asio::awaitable<sql::ColumnPtr> AggregateCallRun::finish(std::size_t group_count,
                                                         const sql::EvaluationContext& context) {
  distinct_.reset();
  if (sorted_) {
    EventLoopTurn turn;
    sorted_->finish();
    while (true) {
      const sql::Batch batch = sorted_->next(sql::kBatchRows);
      if (batch.rows == 0) break;
      const std::vector<std::int32_t>& numbers = batch.columns[0]->values<std::int32_t>();
      const std::vector<RowNumber> groups(numbers.begin(), numbers.end());
      const std::span<const sql::ColumnPtr> arguments(batch.columns.data() + 1, batch.columns.size() - 1);
      aggregator_->update(arguments, groups, group_count, context);
      if (turn.is_over()) co_await turn.yield();
    }
    sorted_.reset();
  }
  sql::ColumnPtr result = aggregator_->finish(group_count, context);
  aggregator_.reset();
  co_return result;
}

std::size_t AggregateCallRun::memory() const {
  return aggregator_->memory() + (distinct_ ? distinct_->memory() : 0) + (sorted_ ? sorted_->memory() : 0);
}

}  // namespace redquel::executor
