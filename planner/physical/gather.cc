// Tables in several buckets: the same way to the rows of each part, side by side.

#include <algorithm>
#include <limits>

#include "planner/access/value_product.h"
#include "planner/physical/physical_planner.h"
#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using TablePtr = std::shared_ptr<const sql::TableDef>;

namespace {

/// Returns the values of the column of bucket_by that the conditions allow; none: any.
std::vector<ExpressionPtr> values_of_part(const LogicalScan& scan, const std::vector<LogicalColumn>& columns, const std::vector<ExpressionPtr>& conditions) {
  const std::int16_t column = scan.table->spread->column;
  if (column == 0) return {};
  const Condition condition = analyse_conditions(conditions, *scan.table, number_of(scan, columns));
  const std::vector<ExpressionPtr>* values = equal_values(condition, column);
  return values != nullptr ? *values : std::vector<ExpressionPtr>();
}

const std::int64_t* constant_count(const ExpressionPtr& count) {
  const auto* constant = count ? std::get_if<sql::Constant>(&count->node) : nullptr;
  return constant != nullptr ? std::get_if<std::int64_t>(&constant->value) : nullptr;
}

/// Returns the number of rows of each part that may be among the first rows of all. No number: it is not known in time.
RowGoal goal_of_part(const RowGoal& goal) {
  if (!goal.limit || !goal.offset) return RowGoal{goal.limit, nullptr, static_cast<bool>(goal.limit)};
  const std::int64_t *limit = constant_count(goal.limit), *offset = constant_count(goal.offset);
  if (limit == nullptr || offset == nullptr || *limit < 0 || *offset < 0 || *limit > std::numeric_limits<std::int64_t>::max() - *offset) return {};
  return RowGoal{sql::make_constant(sql::kInt8, *limit + *offset), nullptr, true};
}

/// Returns a tree of filters and projections over the scan of a table, over that of its part instead.
LogicalPtr over_part(const LogicalPtr& node, const TablePtr& part) {
  if (const auto* scan = std::get_if<LogicalScan>(&node->node)) {
    LogicalScan of_part = *scan;
    of_part.table = part;
    return make_logical(std::move(of_part), node->columns);
  }
  std::vector<LogicalPtr> inputs = inputs_of(*node);
  for (LogicalPtr& input : inputs) input = over_part(input, part);
  return with_inputs(*node, inputs);
}

bool gives_first_rows(const PhysicalNode& node) {
  const auto* sets = std::get_if<SetScan>(&node.node);
  return sets != nullptr && sets->first;
}

bool is_end(const AggregateCall& call) { return call.function->name == "min" || call.function->name == "max"; }

}  // namespace

Planned PhysicalPlanner::plan_parts(const std::vector<LogicalColumn>& columns, const LogicalScan& scan, const std::vector<ExpressionPtr>& conditions,
                                    const Wish& wish) {
  const sql::TableDef& table = *scan.table;
  const std::vector<ExpressionPtr> values = values_of_part(scan, columns, conditions);
  if (values.size() != 1) {
    if (auto lookup = plan_value_elsewhere(columns, scan, conditions, wish)) return *std::move(lookup);
  }
  const bool is_changed = std::ranges::any_of(table.parts, [&](const TablePtr& part) { return changed_tables_.contains(part->oid); });
  const auto plan_each = [&](const Wish& of_part) {
    std::vector<Planned> parts;
    for (const TablePtr& part : table.parts) {
      LogicalScan scan_of_part = scan;
      scan_of_part.table = part;
      parts.push_back(plan_access(columns, scan_of_part, conditions, of_part));
    }
    return parts;
  };
  Wish below;
  if (!is_changed) below = Wish{wish.order, goal_of_part(wish.goal), wish.needed};
  std::vector<Planned> parts = plan_each(below);
  const auto is_ordered = [&] {
    return !below.order.empty() && std::ranges::all_of(parts, [&](const Planned& part) { return part.ordered >= below.order.size() && !part.ordered_by_form; });
  };
  const bool are_first = std::ranges::all_of(parts, [](const Planned& part) { return gives_first_rows(*part.plan); });
  if (below.goal && !below.order.empty() && !is_ordered() && !are_first) {
    below = Wish{{}, {}, wish.needed};
    parts = plan_each(below);
  }
  Gather gather{.table = scan.table, .parts = {}, .values = values};
  for (Planned& part : parts) {
    std::vector<PhysicalColumn> of_part = part.plan->columns;
    const bool is_limited = part.limited || are_first || !below.goal;
    gather.parts.push_back(is_limited ? part.plan : make_physical(PhysicalLimit{part.plan, below.goal.limit, nullptr, false, {}}, std::move(of_part)));
  }
  Planned planned{nullptr, parts.front().ids};
  if (is_ordered()) {
    planned.ordered = below.order.size();
    if (gather.values.size() != 1) gather.combine = Gather::Combine::kMerge;
  }
  if (gather.combine == Gather::Combine::kMerge) {
    gather.keys = below.order;
    for (SortKey& key : gather.keys) key.expression = resolve(key.expression, planned.ids);
  }
  auto shown = parts.front().plan->columns;
  planned.plan = make_physical(std::move(gather), std::move(shown));
  return planned;
}

std::optional<Planned> PhysicalPlanner::plan_aggregate_of_parts(const Logical& node, const LogicalAggregate& aggregate, const sql::TableDef& table) {
  const bool counts = std::ranges::all_of(aggregate.calls, [](const AggregateCall& call) { return call.function->name == "count" && !call.distinct; });
  const bool are_ends = aggregate.scalar && std::ranges::all_of(aggregate.calls, is_end);
  if (aggregate.calls.empty() || (!counts && !are_ends)) return {};
  const auto pattern = match_scan(aggregate.input);
  Gather gather{.table = pattern->scan->table, .parts = {}, .values = values_of_part(*pattern->scan, *pattern->columns, pattern->conditions)};
  for (const TablePtr& part : table.parts) {
    LogicalAggregate of_part = aggregate;
    of_part.input = over_part(aggregate.input, part);
    auto planned = plan_index_aggregate(node, of_part);
    if (!planned) return {};
    gather.parts.push_back(std::move(planned->plan));
  }
  if (counts) {
    gather.combine = Gather::Combine::kAdd;
    gather.group_columns = aggregate.group_by.size();
    return Planned{make_physical(std::move(gather), physical_columns(node.columns)), column_ids(node.columns)};
  }
  PhysicalAggregate ends{make_physical(std::move(gather), physical_columns(node.columns)), {}, aggregate.calls, true};
  for (std::size_t i = 0; i < ends.calls.size(); ++i) {
    ends.calls[i].filter = nullptr;
    ends.calls[i].arguments = {sql::make_column(node.columns[i].type, static_cast<std::uint32_t>(i), node.columns[i].name)};
  }
  return Planned{make_physical(std::move(ends), physical_columns(node.columns)), column_ids(node.columns)};
}

std::optional<Planned> PhysicalPlanner::plan_distinct_of_parts(const Logical& node, const LogicalDistinct& distinct, const sql::TableDef& table) {
  const auto pattern = match_scan(distinct.input);
  Gather gather{.table = pattern->scan->table, .parts = {}, .values = values_of_part(*pattern->scan, *pattern->columns, pattern->conditions)};
  for (const TablePtr& part : table.parts) {
    LogicalDistinct of_part = distinct;
    of_part.input = over_part(distinct.input, part);
    auto planned = plan_index_distinct(node, of_part);
    if (!planned) return {};
    gather.parts.push_back(std::move(planned->plan));
  }
  PhysicalDistinct all{make_physical(std::move(gather), physical_columns(node.columns)), {}};
  return Planned{make_physical(std::move(all), physical_columns(node.columns)), column_ids(node.columns)};
}

}  // namespace redquel::planner
