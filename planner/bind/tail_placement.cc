#include <algorithm>
#include <set>

#include "planner/bind/locking.h"
#include "planner/bind/ordering.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/subquery_placement.h"
#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

LogicalPtr sorted(LogicalPtr input, std::vector<SortKey> keys) {
  if (keys.empty()) return input;
  std::vector<LogicalColumn> columns = input->columns;
  return make_logical(LogicalSort{std::move(input), std::move(keys)}, std::move(columns));
}

/// A LIMIT that asks a subquery takes its number through a parameter slot.
LogicalPtr limited(BindState& state, const QueryLevel& level, LogicalPtr input, const QueryTail& tail) {
  if (!tail.limit && !tail.offset) return input;
  LogicalLimit limit{input, tail.limit, tail.offset, tail.with_ties};
  const std::vector<LogicalColumn> columns = input->columns;
  const LogicalPtr counts = place_subqueries(state, level, one_row(), std::vector{tail.limit, tail.offset});
  if (counts->columns.empty()) return make_logical(std::move(limit), columns);
  CorrelationFrame frame;
  if (limit.limit) limit.limit = columns_to_slots(state, frame, limit.limit);
  if (limit.offset) limit.offset = columns_to_slots(state, frame, limit.offset);
  return with_answers(counts, frame, make_logical(std::move(limit), columns));
}

std::vector<ExpressionPtr> values_of(const std::vector<OutputValue>& outputs) {
  std::vector<ExpressionPtr> values;
  for (const OutputValue& output : outputs) values.push_back(output.value);
  return values;
}

void add_lock_columns(const QueryLevel& level, std::vector<OutputValue>& outputs) {
  for (const LogicalLockRows::Mark& mark : level.lock_marks) {
    for (const LogicalColumn& column : mark.row) outputs.push_back({reference(column), column.name});
  }
}

/// Sorts and cuts off first, then computes the select list for the remaining rows. Only if the result is identical.
LogicalPtr project_last(BindState& state, const QueryLevel& level, LogicalPtr input, const TargetList& targets,
                        const QueryTail& tail) {
  std::vector<SortKey> keys;
  std::vector<ExpressionPtr> key_values;
  for (const QueryTail::Key& key : tail.order_by) {
    key_values.push_back(targets.items()[key.target].value);
    keys.push_back({key_values.back(), key.order.descending, key.order.nulls_first});
  }
  input = place_subqueries(state, level, std::move(input), key_values);
  input = limited(state, level, place_locks(level, sorted(std::move(input), std::move(keys))), tail);
  std::vector<OutputValue> outputs;
  for (const Target& target : targets.items()) {
    if (!target.junk) outputs.push_back({target.value, target.name});
  }
  if (level.passes_locks) add_lock_columns(level, outputs);
  input = place_subqueries(state, level, std::move(input), values_of(outputs));
  return make_project(state, std::move(input), outputs);
}

/// Compute the select list (and what ORDER BY needs besides), then work on its columns.
LogicalPtr project_first(BindState& state, const QueryLevel& level, LogicalPtr input, const TargetList& targets,
                         const QueryTail& tail) {
  std::vector<OutputValue> outputs;
  std::vector<std::size_t> positions(targets.items().size());  // of each target among the outputs
  const auto add = [&](std::size_t target) {
    positions[target] = outputs.size();
    outputs.push_back({targets.items()[target].value, targets.items()[target].name});
  };
  for (std::size_t i = 0; i < targets.items().size(); ++i) {
    if (!targets.items()[i].junk) add(i);
  }
  if (level.passes_locks) add_lock_columns(level, outputs);
  const std::size_t visible = outputs.size();
  if (!level.passes_locks) add_lock_columns(level, outputs);
  std::vector<bool> added(targets.items().size(), false);
  const auto need = [&](std::size_t target) {
    if (targets.items()[target].junk && !added[target]) add(target), added[target] = true;
  };
  for (const QueryTail::Key& key : tail.order_by) need(key.target);
  for (std::size_t target : tail.distinct_on) need(target);

  input = place_subqueries(state, level, std::move(input), values_of(outputs));
  LogicalPtr plan = make_project(state, std::move(input), outputs);
  const std::vector<LogicalColumn> columns = plan->columns;
  std::vector<SortKey> keys;
  for (const QueryTail::Key& key : tail.order_by) {
    keys.push_back({reference(columns[positions[key.target]]), key.order.descending, key.order.nulls_first});
  }
  if (tail.distinct) plan = make_logical(LogicalDistinct{plan, {}}, columns);
  plan = sorted(std::move(plan), std::move(keys));
  if (!tail.distinct_on.empty()) {
    LogicalDistinct distinct{plan, {}};
    for (std::size_t target : tail.distinct_on) distinct.on.push_back(reference(columns[positions[target]]));
    plan = make_logical(std::move(distinct), columns);
  }
  plan = limited(state, level, place_locks(level, std::move(plan)), tail);
  if (plan->columns.size() == visible) return plan;
  std::vector<OutputValue> kept;
  for (std::size_t i = 0; i < visible; ++i) kept.push_back({reference(columns[i]), columns[i].name});
  return make_project(state, std::move(plan), kept);
}

/// Returns true if ORDER BY and DISTINCT ON precede the rows of set-returning functions, as in PostgreSQL if neither depends on them.
bool picks_before_multiplying(const QueryLevel& level, const TargetList& targets, const QueryTail& tail) {
  if (tail.distinct_on.empty() || !tail.has_order_by || level.set_returning.empty() || !level.lock_marks.empty()) return false;
  std::set<ColumnId> made;
  for (const std::size_t index : level.set_returning) {
    for (const LogicalColumn& column : level.subqueries[index].plan->columns) made.insert(column.id);
  }
  const auto is_made = [&](std::size_t target) {
    std::vector<std::uint32_t> used;
    sql::collect_columns(*targets.items()[target].value, used);
    return std::ranges::any_of(used, [&](std::uint32_t column) { return made.contains(column); });
  };
  return std::ranges::none_of(tail.distinct_on, is_made) &&
         std::ranges::none_of(tail.order_by, [&](const QueryTail::Key& key) { return is_made(key.target); });
}

LogicalPtr multiply_last(BindState& state, const QueryLevel& level, LogicalPtr input, const TargetList& targets,
                         const QueryTail& tail) {
  std::vector<SortKey> keys;
  std::vector<ExpressionPtr> on, values;
  for (const QueryTail::Key& key : tail.order_by) {
    values.push_back(targets.items()[key.target].value);
    keys.push_back({values.back(), key.order.descending, key.order.nulls_first});
  }
  for (const std::size_t target : tail.distinct_on) on.push_back(targets.items()[target].value);
  values.insert(values.end(), on.begin(), on.end());
  input = sorted(place_subqueries(state, level, std::move(input), values), std::move(keys));
  const std::vector<LogicalColumn> columns = input->columns;
  input = make_logical(LogicalDistinct{std::move(input), std::move(on)}, columns);
  std::vector<OutputValue> outputs;
  for (const Target& target : targets.items()) {
    if (!target.junk) outputs.push_back({target.value, target.name});
  }
  input = place_subqueries(state, level, std::move(input), values_of(outputs));
  return limited(state, level, make_project(state, std::move(input), outputs), tail);
}

}  // namespace

LogicalPtr place_tail(BindState& state, const QueryLevel& level, LogicalPtr input, const TargetList& targets,
                      const QueryTail& tail) {
  const bool computed_once = std::ranges::any_of(tail.order_by, [&](const QueryTail::Key& key) {
    const sql::Expression& value = *targets.items()[key.target].value;
    return sql::is_volatile(value) || waits(value);
  });
  if (picks_before_multiplying(level, targets, tail)) return multiply_last(state, level, std::move(input), targets, tail);
  const bool whole_rows = tail.distinct || !tail.distinct_on.empty();
  if (whole_rows || computed_once || !level.set_returning.empty())
    return project_first(state, level, std::move(input), targets, tail);
  return project_last(state, level, std::move(input), targets, tail);
}

}  // namespace redquel::planner
