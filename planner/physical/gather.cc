// Tables in several buckets or partitions: a way to the rows of each part, side by side.

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "planner/access/value_product.h"
#include "planner/physical/physical_planner.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/spread_table.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using TablePtr = std::shared_ptr<const sql::TableDef>;

namespace {

/// Adds the limits that an AND of conditions says of a column.
void add_limits(const Condition& condition, std::int16_t column, PartLimit& limit) {
  if (condition.kind == Condition::Kind::kAnd) {
    for (const Condition& operand : condition.operands) add_limits(operand, column, limit);
    return;
  }
  if (condition.kind != Condition::Kind::kColumn || condition.column.column != column) return;
  using enum ColumnCondition::Kind;
  const ColumnCondition& said = condition.column;
  switch (said.kind) {
    case kEqual:
    case kIn:
      if (limit.equal.empty() || said.values.size() < limit.equal.size()) limit.equal = said.values;
      return;
    case kLess:
    case kLessEqual:
      if (!limit.upper) limit.upper = said.values.front(), limit.upper_inclusive = said.kind == kLessEqual;
      return;
    case kGreater:
    case kGreaterEqual:
      if (!limit.lower) limit.lower = said.values.front(), limit.lower_inclusive = said.kind == kGreaterEqual;
      return;
    case kIsNull: limit.only_null = true; return;
    case kIsNotNull: limit.not_null = true; return;
    case kNotEqual:
    case kPrefix:
    case kEntries: return;
  }
}

/// Returns what the conditions allow for the columns that name the part of a row.
std::vector<PartLimit> limits_of(const LogicalScan& scan, const std::vector<LogicalColumn>& columns, const std::vector<ExpressionPtr>& conditions) {
  const Condition condition = analyse_conditions(conditions, *scan.table, number_of(scan, columns));
  std::vector<PartLimit> limits;
  for (const std::int16_t column : sql::columns_of_parts(*scan.table)) {
    PartLimit limit{.column = column};
    if (column == 0) continue;
    if (const auto* values = equal_values(condition, column)) limit.equal = *values;
    if (scan.table->router) add_limits(condition, column, limit);
    if (!limit.equal.empty() || limit.lower || limit.upper || limit.only_null || limit.not_null) limits.push_back(std::move(limit));
  }
  return limits;
}

/// The value as one of the column; nullopt: it is known at run time, or of another type.
std::optional<sql::Datum> known_value(const sql::TableDef& table, std::int16_t column, const ExpressionPtr& value) {
  const auto* constant = value ? std::get_if<sql::Constant>(&value->node) : nullptr;
  if (constant == nullptr || sql::is_null(constant->value) || value->type.oid != table.find_column(column)->type.oid) return {};
  return constant->value;
}

/// Returns the numbers of the parts that may have rows, as far as constants tell.
std::vector<std::size_t> parts_planned(const sql::TableDef& table, const std::vector<PartLimit>& limits) {
  const auto known_limits = [&](std::int16_t column) {
    sql::PartitionKeyLimits known;
    for (const PartLimit& limit : limits) {
      if (limit.column != column) continue;
      known.only_null = known.only_null || limit.only_null;
      known.not_null = known.not_null || limit.not_null;
      std::vector<sql::Datum> values;
      for (const ExpressionPtr& value : limit.equal) {
        if (auto one = known_value(table, column, value)) values.push_back(*std::move(one));
      }
      if (!values.empty() && values.size() == limit.equal.size()) known.equal = std::move(values);
      if (auto lower = known_value(table, column, limit.lower)) known.lower = {*std::move(lower), limit.lower_inclusive};
      if (auto upper = known_value(table, column, limit.upper)) known.upper = {*std::move(upper), limit.upper_inclusive};
    }
    return known;
  };
  if (table.router) return table.router->parts_within(known_limits);
  std::vector<std::size_t> all(table.parts.size());  // of buckets, which are alike: a plan that holds for other values, too
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// A Gather without its plans over the parts that the conditions leave.
Gather gather_over(const LogicalScan& scan, const std::vector<LogicalColumn>& columns, const std::vector<ExpressionPtr>& conditions) {
  Gather gather{.table = scan.table, .parts = {}, .numbers = {}, .limits = limits_of(scan, columns, conditions)};
  gather.numbers = parts_planned(*scan.table, gather.limits);
  return gather;
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

/// Returns a tree of joins, filters and projections over scans of tables, over those of their parts with this number instead.
LogicalPtr over_part(const LogicalPtr& node, std::size_t number) {
  if (const auto* scan = std::get_if<LogicalScan>(&node->node)) {
    LogicalScan of_part = *scan;
    of_part.table = scan->table->parts[number];
    return make_logical(std::move(of_part), node->columns);
  }
  std::vector<LogicalPtr> inputs = inputs_of(*node);
  for (LogicalPtr& input : inputs) input = over_part(input, number);
  return with_inputs(*node, inputs);
}

/// The columns of rows that name their bucket: they have the value of bucket_by, in a table with as many parts.
struct BucketColumns {
  TablePtr table;
  std::set<ColumnId> columns;
};

const sql::ColumnRef* column_of(const ExpressionPtr& expression) { return std::get_if<sql::ColumnRef>(&expression->node); }

sql::Type type_of_bucket_by(const sql::TableDef& table) { return table.find_column(table.spread->column)->type; }

/// Returns true if equal values of both tables' bucket_by lie in the parts with one number.
bool are_alike(const sql::TableDef& a, const sql::TableDef& b) {
  const sql::Type first = type_of_bucket_by(a), second = type_of_bucket_by(b);
  return a.parts.size() == b.parts.size() && (first == second || (sql::is_integer_type(first.oid) && sql::is_integer_type(second.oid)));
}

/// Returns true if the condition joins the rows of both sides within their parts.
bool joins_parts(const ExpressionPtr& condition, const BucketColumns& left, const BucketColumns& right) {
  const auto links = [&](const ExpressionPtr& part) {
    const auto* call = std::get_if<sql::FunctionCall>(&part->node);
    if (call == nullptr || call->function->name != "=" || call->arguments.size() != 2) return false;
    const sql::ColumnRef *first = column_of(call->arguments[0]), *second = column_of(call->arguments[1]);
    if (first == nullptr || second == nullptr) return false;
    const auto are_of = [&](ColumnId a, ColumnId b) { return left.columns.contains(a) && right.columns.contains(b); };
    return are_of(first->column, second->column) || are_of(second->column, first->column);
  };
  return condition && are_alike(*left.table, *right.table) && std::ranges::any_of(sql::split_conjunction(condition), links);
}

/// The input whose rows decide which part a row of the join lies in, and the other one.
std::pair<LogicalPtr, LogicalPtr> sides_of(const LogicalJoin& join) {
  return join.kind == JoinKind::kRight ? std::pair(join.right, join.left) : std::pair(join.left, join.right);
}

bool keeps_both(JoinKind kind) { return kind == JoinKind::kInner || kind == JoinKind::kSemi; }

/// Returns the columns that name the bucket of a row of a tree over tables in several buckets, whose joins stay within parts; nullopt: there are
/// none.
std::optional<BucketColumns> bucket_columns(const LogicalPtr& node) {
  if (const auto* join = std::get_if<LogicalJoin>(&node->node)) {
    if (join->kind == JoinKind::kFull) return {};
    const auto [first, second] = sides_of(*join);
    auto columns = bucket_columns(first);
    const auto others = columns ? bucket_columns(second) : std::nullopt;
    if (!others || !joins_parts(join->condition, *columns, *others)) return {};
    if (join->kind == JoinKind::kInner) columns->columns.insert(others->columns.begin(), others->columns.end());
    return columns;
  }
  if (const auto* filter = std::get_if<LogicalFilter>(&node->node)) return bucket_columns(filter->input);
  BucketColumns found;
  if (const auto* project = std::get_if<LogicalProject>(&node->node)) {
    const auto below = bucket_columns(project->input);
    if (!below) return {};
    found.table = below->table;
    for (std::size_t i = 0; i < node->columns.size(); ++i) {
      const sql::ColumnRef* column = column_of(project->expressions[i]);
      if (column != nullptr && below->columns.contains(column->column)) found.columns.insert(node->columns[i].id);
    }
    return found;
  }
  const auto* scan = std::get_if<LogicalScan>(&node->node);
  if (scan == nullptr || scan->table->parts.empty() || !scan->table->spread || scan->table->spread->column == 0) return {};
  found.table = scan->table;
  for (std::size_t i = 0; i < node->columns.size(); ++i) {
    if (scan->numbers[i] == scan->table->spread->column) found.columns.insert(node->columns[i].id);
  }
  return found;
}

/// Returns what the conditions of such a tree allow for the column that names the part.
std::vector<PartLimit> limits_of(const LogicalPtr& node) {
  if (const auto* join = std::get_if<LogicalJoin>(&node->node)) {
    const auto [first, second] = sides_of(*join);
    std::vector<PartLimit> limits = limits_of(first);
    return limits.empty() && keeps_both(join->kind) ? limits_of(second) : limits;
  }
  if (const auto pattern = match_scan(node)) return limits_of(*pattern->scan, *pattern->columns, pattern->conditions);
  const std::vector<LogicalPtr> inputs = inputs_of(*node);
  return inputs.size() == 1 ? limits_of(inputs.front()) : std::vector<PartLimit>();
}

/// The columns that a plan gives.
std::vector<LogicalColumn> columns_as(const Planned& planned) {
  std::vector<LogicalColumn> columns;
  for (std::size_t i = 0; i < planned.ids.size(); ++i) {
    const PhysicalColumn& column = planned.plan->columns[i];
    columns.push_back({planned.ids[i], column.name, column.type, true, column.table, column.attribute});
  }
  return columns;
}

/// Returns true if the plan reads all rows of both sides.
bool reads_both_sides(const PhysicalNode& node) {
  const PhysicalNode& join = below_row_wise(node);
  return std::holds_alternative<HashJoin>(join.node) || std::holds_alternative<NestedLoopJoin>(join.node);
}

bool gives_first_rows(const PhysicalNode& node) {
  const auto* sets = std::get_if<SetScan>(&node.node);
  return sets != nullptr && sets->first;
}

bool is_end(const AggregateCall& call) { return call.function->name == "min" || call.function->name == "max"; }

}  // namespace

Planned PhysicalPlanner::plan_part(const std::vector<LogicalColumn>& columns, const LogicalScan& scan, const TablePtr& part,
                                   const std::vector<ExpressionPtr>& conditions, const Wish& wish) {
  LogicalScan of_part = scan;
  of_part.table = part;
  const auto found = std::ranges::find(scan.numbers, sql::kTableOidColumn);
  if (found == scan.numbers.end()) return plan_access(columns, of_part, conditions, wish);
  // The oid is the same for all rows of the part: it comes above the scan, and conditions on it are constants there.
  const std::size_t place = static_cast<std::size_t>(found - scan.numbers.begin());
  const ExpressionPtr oid = sql::make_constant(sql::kOidType, static_cast<std::int32_t>(part->oid));
  of_part.numbers.erase(of_part.numbers.begin() + static_cast<std::ptrdiff_t>(place));
  std::vector<LogicalColumn> stored = columns;
  stored.erase(stored.begin() + static_cast<std::ptrdiff_t>(place));
  std::vector<ExpressionPtr> over_stored;
  for (const ExpressionPtr& condition : conditions) {
    over_stored.push_back(sql::map_columns(condition, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
      return column.column == columns[place].id ? oid : sql::make_expression(whole.type, column, whole.offset);
    }));
  }
  Wish below = wish;
  if (below.needed) below.needed->erase(columns[place].id);
  const bool sorts_by_oid = std::ranges::any_of(wish.order, [&](const SortKey& key) {
    const auto* column = column_of(key.expression);
    return column == nullptr || column->column == columns[place].id;
  });
  if (sorts_by_oid) below = Wish{{}, {}, below.needed};
  Planned planned = plan_access(stored, of_part, over_stored, below);
  PhysicalProject project{planned.plan, {}};
  std::vector<PhysicalColumn> shown = planned.plan->columns;
  for (std::size_t i = 0; i < planned.ids.size(); ++i) project.expressions.push_back(sql::make_column(shown[i].type, static_cast<std::uint32_t>(i), shown[i].name));
  project.expressions.push_back(oid);
  shown.push_back(physical_columns({columns[place]}).front());
  planned.plan = make_physical(std::move(project), std::move(shown));
  planned.ids.push_back(columns[place].id);
  return planned;
}

Planned PhysicalPlanner::plan_parts(const std::vector<LogicalColumn>& columns, const LogicalScan& scan, const std::vector<ExpressionPtr>& conditions,
                                    const Wish& wish) {
  const sql::TableDef& table = *scan.table;
  Gather gather = gather_over(scan, columns, conditions);
  if (gather.numbers.empty()) {
    Planned nothing{make_physical(PhysicalValues{}, physical_columns(columns)), column_ids(columns)};
    nothing.ordered = wish.order.size();
    return nothing;
  }
  if (!gather.reads_one_bucket()) {
    if (auto lookup = plan_value_elsewhere(columns, scan, conditions, wish)) return *std::move(lookup);
  }
  const bool is_changed = std::ranges::any_of(gather.numbers, [&](std::size_t number) { return changed_tables_.contains(table.parts[number]->oid); });
  const auto plan_each = [&](const Wish& of_part) {
    std::vector<Planned> parts;
    for (const std::size_t number : gather.numbers) parts.push_back(plan_part(columns, scan, table.parts[number], conditions, of_part));
    return parts;
  };
  Wish below;
  if (!is_changed) below = Wish{wish.order, goal_of_part(wish.goal), wish.needed, wish.window};
  std::vector<Planned> parts = plan_each(below);
  const auto is_ordered = [&] {
    return !below.order.empty() && std::ranges::all_of(parts, [&](const Planned& part) { return part.ordered >= below.order.size() && !part.ordered_by_form; });
  };
  const bool are_first = std::ranges::all_of(parts, [](const Planned& part) { return gives_first_rows(*part.plan); });
  if (below.goal && !below.order.empty() && !is_ordered() && !are_first) {
    below = Wish{{}, {}, wish.needed};
    parts = plan_each(below);
  }
  // Parts with other indexes may give fewer columns: all give those that are needed.
  std::vector<LogicalColumn> wanted = columns_as(parts.front());
  std::erase_if(wanted, [&](const LogicalColumn& column) {
    return std::ranges::any_of(parts, [&](const Planned& part) { return std::ranges::find(part.ids, column.id) == part.ids.end(); });
  });
  for (Planned& part : parts) {
    Planned arranged = arrange(std::move(part), wanted);
    std::vector<PhysicalColumn> of_part = arranged.plan->columns;
    const bool is_limited = arranged.limited || are_first || !below.goal;
    gather.parts.push_back(is_limited ? arranged.plan : make_physical(PhysicalLimit{arranged.plan, below.goal.limit, nullptr, false, {}}, std::move(of_part)));
  }
  Planned planned{nullptr, column_ids(wanted)};
  const bool was_ordered = is_ordered();
  if (was_ordered) {
    planned.ordered = below.order.size();
    if (!gather.reads_one_bucket() && gather.numbers.size() > 1) gather.combine = Gather::Combine::kMerge;
  }
  if (gather.combine == Gather::Combine::kMerge) {
    gather.keys = below.order;
    for (SortKey& key : gather.keys) key.expression = resolve(key.expression, planned.ids);
  }
  auto shown = gather.parts.front()->columns;
  planned.plan = make_physical(std::move(gather), std::move(shown));
  return planned;
}

std::optional<Planned> PhysicalPlanner::plan_join_of_parts(const Logical& node, const LogicalJoin& join, const Wish& wish, const PhysicalNode& whole) {
  if (!reads_both_sides(whole)) return {};
  const LogicalPtr tree = make_logical(join, node.columns);
  const auto columns = bucket_columns(tree);
  if (!columns) return {};
  Gather gather{.table = columns->table, .parts = {}, .numbers = parts_planned(*columns->table, {}), .limits = limits_of(tree)};
  const auto plan_one = [&](std::size_t number) {
    const LogicalPtr of_part = over_part(tree, number);
    return plan_whole_join(*of_part, std::get<LogicalJoin>(of_part->node), wish);
  };
  const Planned first = plan_one(0);
  if (gather.limits.empty() && reads_both_sides(*first.plan)) return {};
  const std::vector<LogicalColumn> wanted = columns_as(first);
  gather.parts.push_back(first.plan);
  for (std::size_t number = 1; number < columns->table->parts.size(); ++number) {
    const Planned other = plan_one(number);
    const auto has = [&](ColumnId id) { return std::ranges::find(other.ids, id) != other.ids.end(); };
    if (!std::ranges::all_of(first.ids, has)) return {};
    gather.parts.push_back(arrange(other, wanted).plan);
  }
  return Planned{make_physical(std::move(gather), first.plan->columns), first.ids};
}

std::optional<Planned> PhysicalPlanner::plan_aggregate_of_parts(const Logical& node, const LogicalAggregate& aggregate) {
  const bool counts = std::ranges::all_of(aggregate.calls, [](const AggregateCall& call) { return call.function->name == "count" && !call.distinct; });
  const bool are_ends = aggregate.scalar && std::ranges::all_of(aggregate.calls, is_end);
  if (aggregate.calls.empty() || (!counts && !are_ends)) return {};
  const auto pattern = match_scan(aggregate.input);
  Gather gather = gather_over(*pattern->scan, *pattern->columns, pattern->conditions);
  const bool shows_oid = std::ranges::find(pattern->scan->numbers, sql::kTableOidColumn) != pattern->scan->numbers.end();
  if (gather.numbers.empty() || shows_oid) return {};
  for (const std::size_t number : gather.numbers) {
    LogicalAggregate of_part = aggregate;
    of_part.input = over_part(aggregate.input, number);
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

std::optional<Planned> PhysicalPlanner::plan_distinct_of_parts(const Logical& node, const LogicalDistinct& distinct) {
  const auto pattern = match_scan(distinct.input);
  Gather gather = gather_over(*pattern->scan, *pattern->columns, pattern->conditions);
  const bool shows_oid = std::ranges::find(pattern->scan->numbers, sql::kTableOidColumn) != pattern->scan->numbers.end();
  if (gather.numbers.empty() || shows_oid) return {};
  for (const std::size_t number : gather.numbers) {
    LogicalDistinct of_part = distinct;
    of_part.input = over_part(distinct.input, number);
    auto planned = plan_index_distinct(node, of_part);
    if (!planned) return {};
    gather.parts.push_back(std::move(planned->plan));
  }
  PhysicalDistinct all{make_physical(std::move(gather), physical_columns(node.columns)), {}};
  return Planned{make_physical(std::move(all), physical_columns(node.columns)), column_ids(node.columns)};
}

}  // namespace redquel::planner
