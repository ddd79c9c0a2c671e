#include "planner/physical/physical_planner.h"

#include <algorithm>
#include <map>

#include "planner/access/row_bounds.h"
#include "planner/cost/cost_model.h"
#include "planner/physical/all_values.h"
#include "planner/physical/member_sets.h"
#include "planner/physical/part_sets.h"
#include "planner/physical/rank_limit.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/functions/window_function.h"
#include "sql/sqlstate.h"
#include "sql/system_tables.h"

namespace redquel::planner {

using sql::ExpressionPtr;

PhysicalPlan make_physical(PhysicalNode::Node node, std::vector<PhysicalColumn> columns) {
  return std::make_shared<const PhysicalNode>(PhysicalNode{std::move(node), std::move(columns)});
}

std::vector<PhysicalColumn> physical_columns(const std::vector<LogicalColumn>& columns) {
  std::vector<PhysicalColumn> result;
  for (const LogicalColumn& column : columns) result.push_back({column.name, column.type, column.table, column.attribute});
  return result;
}

std::vector<ColumnId> column_ids(const std::vector<LogicalColumn>& columns) {
  std::vector<ColumnId> ids;
  for (const LogicalColumn& column : columns) ids.push_back(column.id);
  return ids;
}

std::size_t position_of(ColumnId id, const std::vector<ColumnId>& ids) {
  // The columns of a relation mostly have consecutive ids.
  if (const std::size_t guess = ids.empty() ? 0 : id - ids.front(); guess < ids.size() && ids[guess] == id)
    return guess;
  auto found = std::find(ids.begin(), ids.end(), id);
  if (found == ids.end()) throw sql::SqlError(sqlstate::kInternalError, "column #" + std::to_string(id) + " is missing from the plan");
  return static_cast<std::size_t>(found - ids.begin());
}

ExpressionPtr resolve(const ExpressionPtr& expression, const std::vector<ColumnId>& ids) {
  if (!expression) return nullptr;
  return sql::map_columns(expression, [&](const sql::Expression& e, const sql::ColumnRef& column) {
    return sql::make_column(e.type, static_cast<std::uint32_t>(position_of(column.column, ids)), column.name);
  });
}

ColumnNumber number_of(const LogicalScan& scan, const std::vector<LogicalColumn>& columns) {
  return [&scan, &columns](ColumnId id) -> std::optional<std::int16_t> {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].id == id) return scan.numbers[i] == sql::kTableOidColumn ? std::nullopt : std::optional(scan.numbers[i]);
    }
    return std::nullopt;
  };
}

Planned arrange(Planned input, const std::vector<LogicalColumn>& wanted) {
  if (input.ids == column_ids(wanted)) return input;
  PhysicalProject project{input.plan, {}};
  for (const LogicalColumn& column : wanted) {
    project.expressions.push_back(
        sql::make_column(column.type, static_cast<std::uint32_t>(position_of(column.id, input.ids)), column.name));
  }
  input.plan = make_physical(std::move(project), physical_columns(wanted));
  input.ids = column_ids(wanted);
  return input;
}

/// Returns true if the value of a condition over parameters is the same for all rows.
static bool is_known_before_read(const sql::Expression& condition) {
  return sql::references_parameters(condition) && columns_in(condition).empty() && !sql::is_volatile(condition);
}

std::optional<ScanPattern> match_scan(const LogicalPtr& node) {
  if (const auto* scan = std::get_if<LogicalScan>(&node->node)) {
    if (scan->table->is_mapped()) return {};  // indexes of redquel's own are meant
    ScanPattern pattern{scan, &node->columns, {}, {}, false};
    for (const LogicalColumn& column : node->columns) pattern.outputs.push_back(sql::make_column(column.type, column.id, column.name));
    return pattern;
  }
  const auto* filter = std::get_if<LogicalFilter>(&node->node);
  const auto* project = std::get_if<LogicalProject>(&node->node);
  if (!filter && !project) return {};
  if (filter && is_true(*filter->condition)) return match_scan(filter->input);
  if (filter && waits(*filter->condition)) return {};
  const LogicalPtr& input = filter ? filter->input : project->input;
  auto pattern = match_scan(input);
  if (!pattern) return {};
  const std::vector<ColumnId> input_ids = column_ids(input->columns);
  auto substituted = [&](const ExpressionPtr& expression) {
    return sql::map_columns(expression, [&](const sql::Expression&, const sql::ColumnRef& column) {
      return pattern->outputs[position_of(column.column, input_ids)];
    });
  };
  if (filter) {
    if (pattern->barrier && !is_leakproof(*filter->condition)) return {};
    pattern->barrier = pattern->barrier || filter->barrier;
    for (const ExpressionPtr& condition : sql::split_conjunction(filter->condition)) pattern->conditions.push_back(substituted(condition));
    return pattern;
  }
  std::vector<ExpressionPtr> outputs;
  for (const ExpressionPtr& expression : project->expressions) outputs.push_back(substituted(expression));
  pattern->outputs = std::move(outputs);
  return pattern;
}

PhysicalPlan PhysicalPlanner::plan_statement(const LogicalPtr& node) { return arrange(plan(node), node->columns).plan; }

Planned PhysicalPlanner::plan(const LogicalPtr& node, const Wish& wish) {
  return std::visit([&](const auto& n) { return plan_node(*node, n, wish); }, node->node);
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalScan& scan, const Wish& wish) {
  return plan_access(node.columns, scan, {}, wish);
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalFunctionScan& scan, const Wish&) {
  PhysicalFunctionScan function{scan.calls, scan.with_ordinality};
  return {make_physical(std::move(function), physical_columns(node.columns)), column_ids(node.columns)};
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalSystemScan& scan, const Wish&) {
  return {make_physical(PhysicalSystemScan{scan.schema, scan.name, scan.positions}, physical_columns(node.columns)),
          column_ids(node.columns)};
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalValues& values, const Wish&) {
  return {make_physical(PhysicalValues{values.rows}, physical_columns(node.columns)), column_ids(node.columns)};
}

std::optional<Planned> PhysicalPlanner::plan_groups_with_all_values(const LogicalFilter& filter) {
  const auto* aggregate = std::get_if<LogicalAggregate>(&filter.input->node);
  if (aggregate == nullptr || aggregate->scalar || aggregate->calls.size() != 1 || !changed_tables_.empty() || !index_answers_ || !rules_.allow(AccessRule::kAllValues)) return {};
  Wish below;
  below.needed.emplace();
  for (const ExpressionPtr& key : aggregate->group_by) below.needed->merge(columns_in(*key));
  const Planned rows = plan(aggregate->input, below);
  if (auto members = groups_in_all_sets(*aggregate, filter.input->columns, filter.condition, rows)) return members;
  return groups_with_all_values(*aggregate, filter.input->columns, filter.condition, rows, [&] {
    Planned groups = plan(filter.input);
    auto columns = groups.plan->columns;
    groups.plan = make_physical(PhysicalFilter{groups.plan, resolve(filter.condition, groups.ids)}, std::move(columns));
    return groups;
  });
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalFilter& filter, const Wish& wish) {
  if (is_true(*filter.condition)) return plan(filter.input, wish);
  const auto* scan = std::get_if<LogicalScan>(&filter.input->node);
  // Conditions that wait are checked after the read. A condition over parameters alone is checked once, before the read.
  const auto is_apart = [](const ExpressionPtr& condition) { return waits(*condition) || is_known_before_read(*condition); };
  const std::vector<ExpressionPtr> conditions = sql::split_conjunction(filter.condition);
  if (scan != nullptr && std::ranges::any_of(conditions, is_apart)) {
    std::vector<ExpressionPtr> first, then;
    for (const ExpressionPtr& condition : conditions) (is_apart(condition) ? then : first).push_back(condition);
    LogicalPtr rows = filter.input;
    if (!first.empty()) rows = make_logical(LogicalFilter{filter.input, sql::conjunction(std::move(first))}, filter.input->columns);
    const ExpressionPtr condition = sql::conjunction(std::move(then));
    Wish below{wish.order, {}, wish.needed, wish.window};
    if (below.needed) below.needed->merge(columns_in(*condition));
    Planned input = plan(rows, below);
    auto columns = input.plan->columns;
    input.plan = make_physical(PhysicalFilter{input.plan, resolve(condition, input.ids)}, std::move(columns));
    if (wish.window && is_walk(*input.plan) && !input.walk) input.walk = Walk{};
    return input;
  }
  if (scan != nullptr) {
    Planned rows = plan_access(filter.input->columns, *scan, sql::split_conjunction(filter.condition), wish);
    if (wish.window && is_walk(*rows.plan)) rows.walk = Walk{.counted = make_logical(filter, node.columns), .counted_rows = scan->table_rows};
    return rows;
  }
  Wish below{wish.order, {}, wish.needed};
  if (walks_ && !sql::is_volatile(*filter.condition)) below.window = wish.goal.limit ? wish.goal : wish.window;
  if (below.needed) below.needed->merge(columns_in(*filter.condition));
  if (auto groups = plan_groups_with_all_values(filter)) return std::move(*groups);
  auto ranked = plan_index_ranks(filter.input, filter.condition, below.needed);
  const bool is_limited_by_rank = !ranked && rules_.allow(AccessRule::kRankLimit);
  Planned input = ranked ? *std::move(ranked) : plan(is_limited_by_rank ? limited_by_rank(filter.input, filter.condition) : filter.input, below);
  if (const auto* system = std::get_if<LogicalSystemScan>(&filter.input->node); system && system->schema == sql::kRedisSchema) {
    PhysicalSystemScan bounded{system->schema, system->name, system->positions, row_bounds(*filter.input, *system, *filter.condition)};
    input.plan = make_physical(std::move(bounded), input.plan->columns);
  }
  auto columns = input.plan->columns;
  input.plan = make_physical(PhysicalFilter{input.plan, resolve(filter.condition, input.ids)}, std::move(columns));
  if (below.window && input.ordered > 0 && is_walk(*input.plan) && !input.walk) input.walk = Walk{};
  return input;
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalProject& project, const Wish& wish) {
  Wish below;
  below.goal = wish.goal;
  below.window = wish.window;
  below.needed.emplace();
  for (const ExpressionPtr& expression : project.expressions) below.needed->merge(columns_in(*expression));
  for (const SortKey& key : wish.order) {
    SortKey mapped = key;
    mapped.expression = sql::map_columns(key.expression, [&](const sql::Expression& e, const sql::ColumnRef& column) {
      auto ids = column_ids(node.columns);
      auto found = std::find(ids.begin(), ids.end(), column.column);
      if (found == ids.end()) return sql::make_column(e.type, column.column, column.name);
      return project.expressions[static_cast<std::size_t>(found - ids.begin())];
    });
    below.order.push_back(std::move(mapped));
  }
  Planned input = plan(project.input, below);
  std::vector<ExpressionPtr> expressions;
  bool identity = project.expressions.size() == input.ids.size();
  for (std::size_t i = 0; i < project.expressions.size(); ++i) {
    expressions.push_back(resolve(project.expressions[i], input.ids));
    const auto* column = std::get_if<sql::ColumnRef>(&expressions.back()->node);
    identity = identity && column && column->column == i;
  }
  if (identity) {  // only names change
    auto renamed = *input.plan;
    renamed.columns = physical_columns(node.columns);
    input.plan = std::make_shared<const PhysicalNode>(std::move(renamed));
  } else {
    input.plan = make_physical(PhysicalProject{input.plan, std::move(expressions)}, physical_columns(node.columns));
  }
  input.ids = column_ids(node.columns);
  return input;
}

bool is_one_row(const Logical& node) {
  if (const auto* values = std::get_if<LogicalValues>(&node.node)) return values->rows.size() == 1;
  if (const auto* project = std::get_if<LogicalProject>(&node.node)) return is_one_row(*project->input);
  const auto* apply = std::get_if<LogicalApply>(&node.node);
  return apply && apply->kind != LogicalApply::Kind::kLateral && is_one_row(*apply->input);
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalApply& apply, const Wish& wish) {
  if (auto in_order = tried(AccessRule::kApplyInOrder, [&] { return plan_apply_in_order(node, apply, wish); })) return *std::move(in_order);
  if (!apply.correlations.empty() && is_limited(*apply.input)) {
    Planned few = apply.kind == LogicalApply::Kind::kScalar ? plan_scalar_of_few(node, apply) : plan_apply(node, apply, wish);
    if (const auto* each = std::get_if<PhysicalApply>(&few.plan->node); !each || !reads_whole_table(*each->subquery)) return few;
  }
  if (!apply.correlations.empty() && runs_often(apply.input)) {
    if (auto joined = tried(AccessRule::kDecorrelated, [&] { return plan_decorrelated(node, apply, wish); })) return std::move(*joined);
    if (auto kept = tried(AccessRule::kKeptRows, [&] { return plan_over_kept_rows(node, apply, wish); })) return std::move(*kept);
  }
  return plan_apply(node, apply, wish);
}

bool PhysicalPlanner::runs_often(const LogicalPtr& outer) {
  const auto* filter = std::get_if<LogicalFilter>(&outer->node);
  const LogicalPtr& below = filter ? filter->input : outer;
  if (std::holds_alternative<LogicalScan>(below->node)) return CostModel().rows(*plan(outer).plan) > 1;
  if (std::holds_alternative<LogicalValues>(outer->node)) return !is_one_row(*outer);
  const auto* apply = std::get_if<LogicalApply>(&outer->node);
  const auto* project = std::get_if<LogicalProject>(&outer->node);
  const auto* sort = std::get_if<LogicalSort>(&outer->node);
  const auto* aggregate = std::get_if<LogicalAggregate>(&outer->node);
  if (filter) return runs_often(filter->input);
  if (apply && apply->kind != LogicalApply::Kind::kLateral) return runs_often(apply->input);
  if (project) return runs_often(project->input);
  if (sort) return runs_often(sort->input);
  if (aggregate) return !aggregate->scalar;
  // Subqueries of RETURNING are evaluated for the rows that were written.
  const bool writes = std::holds_alternative<LogicalInsert>(outer->node) || std::holds_alternative<LogicalUpdate>(outer->node) ||
                      std::holds_alternative<LogicalDelete>(outer->node) || std::holds_alternative<LogicalMerge>(outer->node);
  return !writes;
}

Planned PhysicalPlanner::plan_apply(const Logical& node, const LogicalApply& apply, const Wish& wish) {
  // The rows of a subquery that runs once come as it gives them.
  const bool runs_once = apply.kind == LogicalApply::Kind::kLateral && apply.join == JoinKind::kInner && is_one_row(*apply.input);
  return plan_apply_over(node, apply, plan(apply.input), runs_once ? wish : Wish{});
}

Planned PhysicalPlanner::plan_apply_over(const Logical& node, const LogicalApply& apply, Planned input, const Wish& of_subquery) {
  const bool is_test = apply.kind == LogicalApply::Kind::kExists && !apply.correlations.empty();
  Planned subquery = is_test ? plan_existence(apply.subquery) : plan(apply.subquery, of_subquery);
  PhysicalApply physical{apply.kind, apply.join, input.plan, subquery.plan, nullptr, apply.all, {}};
  std::vector<ColumnId> both = input.ids;
  both.insert(both.end(), subquery.ids.begin(), subquery.ids.end());
  physical.comparison = resolve(apply.comparison, both);
  for (const auto& correlation : apply.correlations) {
    physical.correlations.push_back({correlation.slot, position_of(correlation.column, input.ids)});
  }
  auto columns = input.plan->columns;
  std::vector<ColumnId> ids;
  if (apply.kind == LogicalApply::Kind::kLateral) {
    columns.insert(columns.end(), subquery.plan->columns.begin(), subquery.plan->columns.end());
    ids = std::move(both);
  } else {
    const LogicalColumn& added = node.columns.back();
    columns.push_back({added.name, added.type, 0, 0});
    ids = input.ids;
    ids.push_back(added.id);
  }
  Planned planned{make_physical(std::move(physical), std::move(columns)), std::move(ids)};
  if (!of_subquery.order.empty() || of_subquery.goal) {
    planned.ordered = subquery.ordered;
    planned.ordered_by_form = subquery.ordered_by_form;
    planned.limited = subquery.limited;
  }
  return planned;
}

std::optional<Planned> PhysicalPlanner::plan_aggregate_of_lateral(const Logical& node, const LogicalAggregate& aggregate) {
  const auto* apply = std::get_if<LogicalApply>(&aggregate.input->node);
  const bool is_lateral = apply && apply->kind == LogicalApply::Kind::kLateral && apply->join == JoinKind::kInner && !apply->comparison;
  if (!aggregate.scalar || !is_lateral || !is_one_row(*apply->input)) return {};
  const std::vector<ColumnId> ids = column_ids(apply->subquery->columns);
  bool is_of_subquery = true;
  for (const AggregateCall& call : aggregate.calls) {
    const auto look = [&](const ExpressionPtr& expression) {
      if (!expression) return;
      for (const ColumnId id : columns_in(*expression)) is_of_subquery = is_of_subquery && std::ranges::find(ids, id) != ids.end();
    };
    for (const ExpressionPtr& argument : call.arguments) look(argument);
    for (const auto& order : call.order_by) look(order.expression);
    look(call.filter);
  }
  const LogicalPtr inner = make_logical(LogicalAggregate{apply->subquery, {}, aggregate.calls, true}, node.columns);
  if (!is_of_subquery || !plan_index_aggregate(*inner, std::get<LogicalAggregate>(inner->node))) return {};
  LogicalApply over_answer = *apply;
  over_answer.subquery = inner;
  std::vector<LogicalColumn> columns = apply->input->columns;
  columns.insert(columns.end(), node.columns.begin(), node.columns.end());
  const LogicalPtr whole = make_logical(std::move(over_answer), std::move(columns));
  return arrange(plan_apply(*whole, std::get<LogicalApply>(whole->node), {}), node.columns);
}

void PhysicalPlanner::count_sets(const LogicalAggregate& aggregate, Planned& input, PhysicalAggregate& physical) {
  if (is_plain_count(aggregate)) {
    if (auto rows = number_of_parts(input.plan)) physical.input = *std::move(rows);
    return;
  }
  if (!is_distinct_count(aggregate)) return;
  const ColumnId column = std::get<sql::ColumnRef>(aggregate.calls[0].arguments[0]->node).column;
  const auto position = std::ranges::find(input.ids, column);
  if (position == input.ids.end()) return;
  const PhysicalColumn& counted = input.plan->columns[static_cast<std::size_t>(position - input.ids.begin())];
  PhysicalProject alone{input.plan, {resolve(aggregate.calls[0].arguments[0], input.ids)}};
  const PhysicalPlan values = input.ids.size() == 1 ? input.plan : make_physical(std::move(alone), {counted});
  auto rows = distinct_members(values);
  const bool are_mapped = rows.has_value();
  if (!rows) rows = distinct_parts(values, [&] { return make_physical(PhysicalDistinct{values, {}}, values->columns); });
  if (!rows) return;
  AggregateCall& call = physical.calls[0];
  call.distinct = false;
  input = {*rows, {column}};
  // A member that is no value of its column may be read as NULL (redquel.on_bad_value). Parts of primary keys are never NULL.
  if (auto number = are_mapped ? std::nullopt : number_of_parts(*rows)) {
    call.function = sql::resolve_aggregate("count", {}).function;
    call.arguments.clear();
    input = {*number, {}};
  }
  physical.input = input.plan;
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalAggregate& aggregate, const Wish& wish) {
  if (auto of_lateral = index_answers_ && rules_.allow(AccessRule::kAnswerOfLateral) ? plan_aggregate_of_lateral(node, aggregate) : std::nullopt) return std::move(*of_lateral);
  if (auto from_index = index_answers_ ? plan_index_aggregate(node, aggregate) : std::nullopt) return std::move(*from_index);
  if (auto in_order = tried(AccessRule::kGroupsInOrder, [&] { return plan_groups_in_order(node, aggregate, wish); })) return *std::move(in_order);
  Wish below;
  below.needed = columns_read(aggregate);
  return plan_aggregate_over(node, aggregate, plan(aggregate.input, below));
}

std::set<ColumnId> columns_read(const LogicalAggregate& aggregate) {
  std::set<ColumnId> needed;
  const auto need = [&](const ExpressionPtr& expression) {
    if (expression) needed.merge(columns_in(*expression));
  };
  for (const ExpressionPtr& key : aggregate.group_by) need(key);
  for (const AggregateCall& call : aggregate.calls) {
    for (const ExpressionPtr& argument : call.arguments) need(argument);
    for (const auto& order : call.order_by) need(order.expression);
    need(call.filter);
  }
  return needed;
}

Planned PhysicalPlanner::plan_aggregate_over(const Logical& node, const LogicalAggregate& aggregate, Planned input) {
  PhysicalAggregate physical{input.plan, {}, aggregate.calls, aggregate.scalar};
  if (changed_tables_.empty() && index_answers_ && rules_.allow(AccessRule::kCountedSets)) count_sets(aggregate, input, physical);
  for (const ExpressionPtr& key : aggregate.group_by) physical.group_by.push_back(resolve(key, input.ids));
  for (AggregateCall& call : physical.calls) {
    for (ExpressionPtr& argument : call.arguments) argument = resolve(argument, input.ids);
    for (auto& order : call.order_by) order.expression = resolve(order.expression, input.ids);
    call.filter = resolve(call.filter, input.ids);
  }
  return {make_physical(std::move(physical), physical_columns(node.columns)), column_ids(node.columns)};
}

namespace {

/// Returns true if the key is such a function of a window without partitions: it rises along the window's order.
bool is_rank(const Logical& node, const LogicalWindow& window, const SortKey& key) {
  const auto* column = std::get_if<sql::ColumnRef>(&key.expression->node);
  if (column == nullptr || key.descending || !window.partition_by.empty() || window.order_by.empty()) return false;
  const auto ids = column_ids(node.columns);
  const auto found = static_cast<std::size_t>(std::find(ids.begin(), ids.end(), column->column) - ids.begin());
  const std::size_t first = node.columns.size() - window.functions.size();
  return found >= first && found < ids.size() && depends_on_earlier_rows(window.functions[found - first]);
}

}  // namespace

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalWindow& window, const Wish& wish) {
  Wish below{wish.order, {}};
  const bool has_rank_order = !wish.order.empty() && is_rank(node, window, wish.order.front());
  if (has_rank_order) {  // what is ordered by the rank comes in the window's order
    below.order.erase(below.order.begin());
    below.order.insert(below.order.begin(), window.order_by.begin(), window.order_by.end());
  }
  if (!window.order_by.empty() && std::ranges::all_of(window.functions, depends_on_earlier_rows)) below.goal = wish.goal;
  below.goal.exact = false;
  Planned input = plan(window.input, below);
  if (has_rank_order) input.ordered = 0;
  input.limited = false;
  PhysicalWindow physical{input.plan, {}, window.order_by, window.functions};
  for (const ExpressionPtr& key : window.partition_by) physical.partition_by.push_back(resolve(key, input.ids));
  for (SortKey& key : physical.order_by) key.expression = resolve(key.expression, input.ids);
  auto columns = input.plan->columns;
  const std::size_t first = node.columns.size() - window.functions.size();
  for (std::size_t i = 0; i < window.functions.size(); ++i) {
    for_each_expression(physical.functions[i], [&](ExpressionPtr& e) { e = resolve(e, input.ids); });
    const LogicalColumn& column = node.columns[first + i];
    columns.push_back({column.name, column.type, 0, 0});
    input.ids.push_back(column.id);
  }
  input.plan = make_physical(std::move(physical), std::move(columns));
  return input;
}

std::size_t granted(const std::vector<SortKey>& wanted, const std::vector<SortKey>& given) {
  std::size_t count = 0;
  while (count < wanted.size() && count < given.size() && sql::equal(*wanted[count].expression, *given[count].expression) &&
         wanted[count].descending == given[count].descending && wanted[count].nulls_first == given[count].nulls_first) {
    ++count;
  }
  return count;
}

Planned sorted(Planned input, const std::vector<SortKey>& keys, const RowGoal& goal) {
  if (input.ordered == keys.size() && !input.ordered_by_form) return input;
  PhysicalSort physical{input.plan, keys, input.ordered, input.ordered_by_form, goal};
  physical.goal.exact = false;
  for (SortKey& key : physical.keys) key.expression = resolve(key.expression, input.ids);
  auto columns = input.plan->columns;
  input.plan = make_physical(std::move(physical), std::move(columns));
  input.ordered = keys.size();
  input.ordered_by_form = false;
  input.limited = false;
  return input;
}

Planned PhysicalPlanner::plan_node(const Logical&, const LogicalSort& sort, const Wish& wish) {
  // The nodes above mean the first rows of their own order.
  const bool is_wanted_order = granted(wish.order, sort.keys) == wish.order.size();
  Wish below{sort.keys, is_wanted_order ? wish.goal : RowGoal{}, wish.needed};
  if (below.needed) {
    for (const SortKey& key : sort.keys) below.needed->merge(columns_in(*key.expression));
  }
  Planned input = plan(sort.input, below);
  if (!input.walk) {
    if (auto walk = tried(AccessRule::kWalkBeside, [&] { return plan_walk_beside(sort, below, input); })) input = *std::move(walk);
  }
  if (input.walk) {
    input = plan_choice(sort, below, std::move(input));
  } else {
    if (input.ordered == 0) {
      if (auto over_sorted = tried(AccessRule::kSortedOuter, [&] { return plan_over_sorted(sort, below); })) input = *std::move(over_sorted);
    }
    input = sorted(std::move(input), sort.keys, below.goal);
  }
  input.ordered = granted(wish.order, sort.keys);
  return input;
}

namespace {

/// 0A000 where a locked row may be missing because an outer join found none.
void refuse_nullable_sides(const Logical& node, const LogicalLockRows::Mark& mark) {
  if (const auto* join = std::get_if<LogicalJoin>(&node.node)) {
    const auto holds = [&](const LogicalPtr& side) { return ids_of(*side).contains(mark.row[0].id); };
    const bool left = join->kind == JoinKind::kRight || join->kind == JoinKind::kFull;
    const bool right = join->kind == JoinKind::kLeft || join->kind == JoinKind::kFull;
    if ((left && holds(join->left)) || (right && holds(join->right))) {
      throw sql::SqlError(sqlstate::kFeatureNotSupported,
                          std::string(lock_clause(mark.lock.strength)) + " cannot be applied to the nullable side of an outer join");
    }
  }
  const auto* apply = std::get_if<LogicalApply>(&node.node);
  if (apply && apply->kind == LogicalApply::Kind::kLateral && apply->join == JoinKind::kLeft &&
      ids_of(*apply->subquery).contains(mark.row[0].id)) {
    throw sql::SqlError(sqlstate::kFeatureNotSupported,
                        std::string(lock_clause(mark.lock.strength)) + " cannot be applied to the nullable side of an outer join");
  }
  for (const LogicalPtr& input : inputs_of(node)) refuse_nullable_sides(*input, mark);
}

}  // namespace

Planned PhysicalPlanner::plan_node(const Logical&, const LogicalLockRows& locks, const Wish& wish) {
  bool skips = false;
  for (const LogicalLockRows::Mark& mark : locks.marks) {
    refuse_nullable_sides(*locks.input, mark);
    if (mark.table->is_mapped() && mark.table->primary_key.empty()) {
      throw sql::not_supported(std::string(lock_clause(mark.lock.strength)) + " of a foreign table without a column that identifies its rows");
    }
    skips = skips || mark.lock.wait == RowLock::Wait::kSkipLocked;
  }
  Wish below{wish.order, wish.goal, {}, wish.window};
  below.goal.exact = false;
  if (skips) below.goal = {};  // the number of locked rows is unknown
  Planned input = plan(locks.input, below);
  PhysicalLockRows physical{input.plan, {}, wish.goal, {locks.bound, input.ids, {}}};
  for (const LogicalLockRows::Mark& mark : locks.marks) {
    PhysicalLockRows::Mark made{mark.table, mark.alias, mark.lock, {}, {}};
    for (const LogicalColumn& column : mark.row) {
      made.positions.push_back(position_of(column.id, input.ids));
      made.numbers.push_back(column.attribute);
    }
    physical.marks.push_back(std::move(made));
    physical.recheck.targets.push_back(mark.row.front().id);
  }
  auto columns = input.plan->columns;
  input.plan = make_physical(std::move(physical), std::move(columns));
  input.limited = false;
  return input;
}

Planned PhysicalPlanner::plan_node(const Logical&, const LogicalLimit& limit, const Wish& wish) {
  Wish below{wish.order, RowGoal{limit.limit, limit.offset, true}, wish.needed};
  if (!limit.limit) below.goal = {};  // an OFFSET alone bounds nothing
  if (limit.with_ties) below.goal = {};
  Planned input = plan(limit.input, below);
  if (input.limited) {
    input.limited = false;
    return input;
  }
  PhysicalLimit physical{input.plan, limit.limit, limit.offset, limit.with_ties, {}};
  if (const auto* sort = std::get_if<LogicalSort>(&limit.input->node); sort && limit.with_ties) {
    physical.tie_keys = sort->keys;
    for (SortKey& key : physical.tie_keys) key.expression = resolve(key.expression, input.ids);
  }
  auto columns = input.plan->columns;
  input.plan = make_physical(std::move(physical), std::move(columns));
  return input;
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalDistinct& distinct, const Wish&) {
  if (auto from_index = index_answers_ && rules_.allow(AccessRule::kIndexDistinct) ? plan_index_distinct(node, distinct) : std::nullopt) return std::move(*from_index);
  // All columns of the input are compared, so they must be just the node's.
  Planned input = arrange(plan(distinct.input), distinct.on.empty() ? node.columns : distinct.input->columns);
  if (auto members = distinct.on.empty() && changed_tables_.empty() && rules_.allow(AccessRule::kMemberSets) ? distinct_members(input.plan) : std::nullopt) return {*std::move(members), input.ids};
  if (distinct.on.empty() && changed_tables_.empty() && rules_.allow(AccessRule::kPartSets)) {
    auto parts = distinct_parts(input.plan, [&] { return make_physical(PhysicalDistinct{input.plan, {}}, input.plan->columns); });
    if (parts) return {*std::move(parts), input.ids};
  }
  PhysicalDistinct physical{input.plan, {}};
  for (const ExpressionPtr& key : distinct.on) physical.on.push_back(resolve(key, input.ids));
  return {make_physical(std::move(physical), input.plan->columns), input.ids};
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalSetOperation& operation, const Wish&) {
  Planned left = arrange(plan(operation.left), operation.left->columns);
  Planned right = arrange(plan(operation.right), operation.right->columns);
  auto members = operation.all || !changed_tables_.empty() || !rules_.allow(AccessRule::kMemberSets) ? std::nullopt : combine_member_sets(operation.kind, left.plan, right.plan);
  if (members) return {*std::move(members), column_ids(node.columns)};
  PhysicalSetOperation physical{operation.kind, operation.all, left.plan, right.plan};
  if (!operation.all && changed_tables_.empty() && rules_.allow(AccessRule::kPartSets)) {
    auto parts = combine_part_sets(operation.kind, left.plan, right.plan, [&] { return make_physical(physical, left.plan->columns); });
    if (parts) return {*std::move(parts), column_ids(node.columns)};
  }
  return {make_physical(std::move(physical), physical_columns(node.columns)), column_ids(node.columns)};
}

Planned PhysicalPlanner::plan_node(const Logical&, const LogicalShare& share, const Wish& wish) {
  Planned input = plan(share.input, wish);
  const PhysicalPlan source = arrange(plan(share.source), share.source->columns).plan;
  auto columns = input.plan->columns;
  input.plan = make_physical(PhysicalShare{input.plan, source, share.number, share.name}, std::move(columns));
  return input;
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalSharedScan& scan, const Wish&) {
  return {make_physical(PhysicalSharedScan{scan.number, scan.name, scan.positions}, physical_columns(node.columns)),
          column_ids(node.columns)};
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalRecursiveUnion& recursion, const Wish&) {
  const PhysicalPlan left = arrange(plan(recursion.left), recursion.left->columns).plan;
  const PhysicalPlan right = arrange(plan(recursion.right), recursion.right->columns).plan;
  return {make_physical(PhysicalRecursiveUnion{left, right, recursion.number, recursion.all}, physical_columns(node.columns)),
          column_ids(node.columns)};
}

}  // namespace redquel::planner
