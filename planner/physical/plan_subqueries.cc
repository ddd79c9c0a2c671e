#include <algorithm>
#include <functional>
#include <map>

#include "planner/access/set_algebra.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/subquery_join.h"
#include "planner/physical/join_equality.h"
#include "planner/physical/physical_planner.h"
#include "planner/rules/cardinality.h"
#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// Fewer outer rows look for theirs one by one.
constexpr double kFewOuterRows = 100;

/// The cost of a lookup, or of a row that it finds, in rows of a scan.
constexpr double kScansPerLookup = 3;

/// A correlated subquery as rows that do not depend on the outer ones, and the equalities that link them.
struct Link {
  LogicalPtr rows;
  std::vector<ExpressionPtr> conditions;  // outer column = column of `rows`
  std::vector<LogicalColumn> keys;        // these columns of `rows`, each once
};

/// nullopt where anything but an equality with one of its columns links the plan to the outer row.
std::optional<Link> take_apart(const LogicalApply& apply, const LogicalPtr& plan) {
  CorrelationFrame frame;
  for (const auto& correlation : apply.correlations) {
    const auto column = std::ranges::find(apply.input->columns, correlation.column, &LogicalColumn::id);
    frame.push_back({correlation.slot, reference(*column)});
  }
  std::vector<ExpressionPtr> pulled;
  Link link{pull_up_conditions(plan, frame, pulled), {}, {}};
  if (pulled.empty() || reads_slots(*link.rows, frame)) return {};
  for (const ExpressionPtr& condition : pulled) {
    const auto* call = std::get_if<sql::FunctionCall>(&condition->node);
    if (call == nullptr || !is_equality_of_groups(*call)) return {};
    const bool left_is_outer = reads_slots(*call->arguments[0], frame);
    const auto* column = std::get_if<sql::ColumnRef>(&call->arguments[left_is_outer ? 1 : 0]->node);
    const sql::Expression& outer = *call->arguments[left_is_outer ? 0 : 1];
    if (column == nullptr || !columns_in(outer).empty() || sql::is_volatile(outer)) return {};
    const auto key = std::ranges::find(link.rows->columns, column->column, &LogicalColumn::id);
    if (key == link.rows->columns.end()) return {};
    if (std::ranges::find(link.keys, key->id, &LogicalColumn::id) == link.keys.end()) link.keys.push_back(*key);
    link.conditions.push_back(map_parameters(condition, [&](const ExpressionPtr& parameter, std::uint32_t slot) {
      const auto found = std::ranges::find(frame, slot, &Correlation::slot);
      return found == frame.end() ? parameter : found->value;
    }));
  }
  return link;
}

/// The slots that change while the Apply runs: its own, and those of the subqueries in its subquery.
void add_slots(const LogicalApply& apply, CorrelationFrame& frame) {
  for (const auto& correlation : apply.correlations) frame.push_back({correlation.slot, nullptr});
  const std::function<void(const Logical&)> visit = [&](const Logical& node) {
    const auto* inner = std::get_if<LogicalApply>(&node.node);
    if (inner) {
      for (const auto& correlation : inner->correlations) frame.push_back({correlation.slot, nullptr});
    }
    for (const LogicalPtr& input : inputs_of(node)) visit(*input);
  };
  visit(*apply.subquery);
}

/// Returns true if an index finds the rows of a table by this column.
bool is_looked_up(const Logical& plan, ColumnId id) {
  if (const auto* scan = std::get_if<LogicalScan>(&plan.node)) {
    const auto number = number_of(*scan, plan.columns)(id);
    if (!number || *number <= 0) return false;
    const std::vector<std::int16_t> key{*number};
    return scan->table->primary_key == key || std::ranges::any_of(sql::structures_of(*scan->table), [&](const sql::Structure& s) {
             return s.readable && s.columns == key && s.kind != sql::Structure::Kind::kNulls;
           });
  }
  const std::vector<LogicalPtr> inputs = inputs_of(plan);
  return std::ranges::any_of(inputs, [&](const LogicalPtr& input) { return is_looked_up(*input, id); });
}

/// Returns true if lookups for all outer rows would cost more than reading the whole table that the link refers to.
bool finds_most(const LogicalApply& apply, const Link& link) {
  Cardinality cardinality(*apply.input);
  cardinality.add(*link.rows);
  cardinality.add_conditions(link.conditions);
  const auto* filter = std::get_if<LogicalFilter>(&link.rows->node);
  const auto* scan = std::get_if<LogicalScan>(&(filter != nullptr ? *filter->input : *link.rows).node);
  if (scan == nullptr || !cardinality.is_known()) return false;
  const double found = cardinality.rows(*apply.input) * (1 + scan->table_rows * cardinality.pair_selectivity(link.conditions));
  return kScansPerLookup * found > scan->table_rows;
}

/// `input` with the rows of `right` that the link names, NULLs where there are none.
LogicalPtr left_join(const LogicalPtr& input, const LogicalPtr& right, const Link& link) {
  return make_join(JoinKind::kLeft, input, right, sql::conjunction(link.conditions));
}

/// The Apply's columns: those of its input, and `value`.
LogicalPtr with_value(const Logical& node, LogicalPtr joined, ExpressionPtr value) {
  LogicalProject project{std::move(joined), {}};
  for (std::size_t i = 0; i + 1 < node.columns.size(); ++i) project.expressions.push_back(reference(node.columns[i]));
  project.expressions.push_back(std::move(value));
  return make_logical(std::move(project), node.columns);
}

/// NULL over no rows, and no error over any.
bool is_null_over_nothing(const AggregateCall& call) {
  static constexpr std::string_view kNames[] = {"sum", "avg", "min", "max", "bool_and", "bool_or", "every"};
  return std::ranges::find(kNames, call.function->name) != std::end(kNames);
}

bool is_simple(const AggregateCall& call) {
  const bool plain = std::ranges::all_of(call.arguments, [](const ExpressionPtr& e) { return std::holds_alternative<sql::ColumnRef>(e->node); });
  return plain && !call.filter && call.order_by.empty() && (call.function->name == "count" || is_null_over_nothing(call));
}

/// EXISTS as a left join with the distinct keys.
LogicalPtr existence_join(const Logical& node, const LogicalApply& apply, Link& link) {
  LogicalProject keys{link.rows, {}};
  for (const LogicalColumn& key : link.keys) keys.expressions.push_back(reference(key));
  LogicalPtr rows = make_logical(std::move(keys), link.keys);
  link.rows = make_logical(LogicalDistinct{std::move(rows), {}}, link.keys);
  ExpressionPtr found = sql::make_expression(sql::kBool, sql::NullTest{reference(link.keys[0]), true});
  return with_value(node, left_join(apply.input, link.rows, link), std::move(found));
}

/// Returns true if no two rows of the node are alike in the columns: they hold the primary key of its table.
bool have_key(const Logical& node, const std::vector<ColumnId>& ids) {
  if (const auto* scan = std::get_if<LogicalScan>(&node.node)) {
    return !scan->table->primary_key.empty() && std::ranges::all_of(scan->table->primary_key, [&](std::int16_t number) {
      const auto position = std::ranges::find(scan->numbers, number) - scan->numbers.begin();
      return position < std::ssize(scan->numbers) && std::ranges::find(ids, node.columns[static_cast<std::size_t>(position)].id) != ids.end();
    });
  }
  if (const auto* filter = std::get_if<LogicalFilter>(&node.node)) return have_key(*filter->input, ids);
  if (const auto* sort = std::get_if<LogicalSort>(&node.node)) return have_key(*sort->input, ids);
  if (const auto* limit = std::get_if<LogicalLimit>(&node.node)) return have_key(*limit->input, ids);
  if (const auto* project = std::get_if<LogicalProject>(&node.node)) return have_key(*project->input, ids);
  const auto* apply = std::get_if<LogicalApply>(&node.node);
  return apply != nullptr && apply->kind != LogicalApply::Kind::kLateral && have_key(*apply->input, ids);
}

/// A scalar subquery that aggregates rows of a table, and what it makes of the answers.
struct ScalarAggregate {
  const LogicalAggregate* aggregate;
  const std::vector<LogicalColumn>* columns;  // of the aggregate
  ExpressionPtr value;                        // over them
};

/// nullopt where the aggregate is another, or where its calls may fail or need more than columns of the rows.
std::optional<ScalarAggregate> match_scalar_aggregate(const LogicalApply& apply) {
  const Logical& top = *apply.subquery;
  const auto* project = std::get_if<LogicalProject>(&top.node);
  const Logical& below = project != nullptr ? *project->input : top;
  const auto* aggregate = std::get_if<LogicalAggregate>(&below.node);
  if (apply.kind != LogicalApply::Kind::kScalar || aggregate == nullptr || !aggregate->scalar || top.columns.size() != 1) return {};
  if (!std::ranges::all_of(aggregate->calls, is_simple)) return {};
  ExpressionPtr value = project != nullptr ? project->expressions[0] : reference(top.columns[0]);
  if (sql::is_volatile(*value)) return {};
  return ScalarAggregate{aggregate, &below.columns, std::move(value)};
}

}  // namespace

std::optional<Planned> PhysicalPlanner::plan_grouped_lookups(const Logical& node, const LogicalApply& apply, const Planned& outer) {
  const std::optional<ScalarAggregate> scalar = match_scalar_aggregate(apply);
  // The row of an outer one without rows has NULLs, which these aggregates leave out.
  const auto counts_rows = [](const AggregateCall& call) { return call.arguments.empty(); };
  if (!scalar || !changed_tables_.empty() || std::ranges::any_of(scalar->aggregate->calls, counts_rows) || !have_key(*apply.input, outer.ids)) return {};
  const std::optional<Link> link = take_apart(apply, scalar->aggregate->input);
  const auto* filter = link ? std::get_if<LogicalFilter>(&link->rows->node) : nullptr;
  const auto* scan = link ? std::get_if<LogicalScan>(&(filter != nullptr ? *filter->input : *link->rows).node) : nullptr;
  if (scan == nullptr) return {};
  std::vector<LogicalColumn> columns;
  LogicalAggregate groups{nullptr, {}, scalar->aggregate->calls, false};
  for (const ColumnId id : outer.ids) {
    const LogicalColumn* column = find_column(*apply.input, id);
    if (column == nullptr || !has_equality(column->type)) return {};
    columns.push_back(*column);
    groups.group_by.push_back(reference(*column));
  }
  const LogicalPtr joined = left_join(apply.input, link->rows, *link);
  Cardinality cardinality(*joined);
  cardinality.add_conditions(link->conditions);
  if (!cardinality.is_known() || scan->table_rows * cardinality.pair_selectivity(link->conditions) > kFewOfRow) return {};
  const Planned whole = plan(link->rows);
  auto rows = plan_lookup_join(std::get<LogicalJoin>(joined->node), apply.input, outer, link->rows, whole, cardinality, LookupChoice::kWindow);
  if (!rows) return {};
  columns.insert(columns.end(), scalar->columns->begin(), scalar->columns->end());
  const LogicalPtr grouped = make_logical(std::move(groups), std::move(columns));
  Planned planned = plan_aggregate_over(*grouped, std::get<LogicalAggregate>(grouped->node), *std::move(rows));
  PhysicalNode in_order = *planned.plan;
  std::get<PhysicalAggregate>(in_order.node).in_order = true;
  PhysicalProject project{std::make_shared<const PhysicalNode>(std::move(in_order)), {}};
  for (std::size_t i = 0; i < outer.ids.size(); ++i) project.expressions.push_back(resolve(reference(grouped->columns[i]), planned.ids));
  project.expressions.push_back(resolve(scalar->value, planned.ids));
  auto shown = outer.plan->columns;
  const LogicalColumn& added = node.columns.back();
  shown.push_back({added.name, added.type, 0, 0});
  std::vector<ColumnId> ids = outer.ids;
  ids.push_back(added.id);
  return Planned{make_physical(std::move(project), std::move(shown)), std::move(ids)};
}

Planned PhysicalPlanner::plan_scalar_of_few(const Logical& node, const LogicalApply& apply) {
  Planned input = plan(apply.input);
  auto grouped = plan_grouped_lookups(node, apply, input);
  return grouped ? *std::move(grouped) : plan_apply_over(node, apply, std::move(input), {});
}

std::optional<Planned> PhysicalPlanner::plan_over_kept_rows(const Logical& node, const LogicalApply& apply, const Wish& wish) {
  CorrelationFrame frame;
  add_slots(apply, frame);
  std::vector<std::pair<LogicalPtr, LogicalSharedScan>> kept;
  const std::function<LogicalPtr(const LogicalPtr&)> keep = [&](const LogicalPtr& input) -> LogicalPtr {
    const auto* filter = std::get_if<LogicalFilter>(&input->node);
    const LogicalPtr& leaf = filter != nullptr ? filter->input : input;
    const auto* scan = std::get_if<LogicalScan>(&leaf->node);
    if (scan == nullptr) {
      std::vector<LogicalPtr> inputs = inputs_of(*input);
      for (LogicalPtr& below : inputs) below = keep(below);
      return inputs.empty() ? input : with_inputs(*input, inputs);
    }
    // A subquery that an index answers for each outer row stays unchanged.
    if (changed_tables_.contains(scan->table->oid)) return input;
    const PhysicalPlan alone = plan(input).plan;
    const auto* whole = std::get_if<FullScan>(&alone->node);
    if (whole == nullptr || !whole->key_start.empty()) return input;
    std::vector<ExpressionPtr> own, outer;
    for (const ExpressionPtr& condition : filter != nullptr ? sql::split_conjunction(filter->condition) : std::vector<ExpressionPtr>{}) {
      if (sql::is_volatile(*condition)) return input;
      (reads_slots(*condition, frame) ? outer : own).push_back(condition);
    }
    LogicalSharedScan shared{next_share_++, scan->alias, {}};
    for (std::size_t i = 0; i < leaf->columns.size(); ++i) shared.positions.push_back(i);
    LogicalPtr rows = make_logical(shared, leaf->columns);
    kept.emplace_back(filtered(leaf, std::move(own)), std::move(shared));
    return filtered(std::move(rows), std::move(outer));
  };
  LogicalApply copy = apply;
  copy.subquery = keep(apply.subquery);
  if (kept.empty()) return {};
  Planned result = plan_apply(node, copy, wish);
  for (const auto& [source, scan] : kept) {
    auto columns = result.plan->columns;
    const PhysicalPlan rows = arrange(plan(source), source->columns).plan;
    result.plan = make_physical(PhysicalShare{result.plan, rows, scan.number, scan.name}, std::move(columns));
  }
  return result;
}

bool PhysicalPlanner::is_index_group(const Logical& rows) {
  std::optional<Planned> planned;
  if (const auto* aggregate = std::get_if<LogicalAggregate>(&rows.node)) planned = plan_index_aggregate(rows, *aggregate);
  if (const auto* distinct = std::get_if<LogicalDistinct>(&rows.node)) planned = plan_index_distinct(rows, *distinct);
  return planned && std::holds_alternative<IndexGroups>(planned->plan->node);
}

std::optional<PhysicalPlanner::KeptInput> PhysicalPlanner::keep_outer_rows(const LogicalApply& apply, const LogicalPtr& rows,
                                                                           const std::vector<ExpressionPtr>& conditions) {
  const auto* filter = std::get_if<LogicalFilter>(&rows->node);
  const Cardinality cardinality(*apply.input);
  const bool is_table = std::holds_alternative<LogicalScan>((filter != nullptr ? filter->input : rows)->node);
  if (!is_table || !cardinality.is_known() || cardinality.rows(*apply.input) < kFewOuterRows || has_volatile(*apply.input)) return {};
  LogicalSharedScan shared{next_share_++, "outer rows", {}};
  LogicalSharedScan keys = shared;
  std::vector<LogicalColumn> key_columns;
  std::map<ColumnId, ColumnId> renamed;
  for (std::size_t i = 0; i < apply.input->columns.size(); ++i) {
    shared.positions.push_back(i);
    LogicalColumn column = apply.input->columns[i];
    const auto asks = [&](const ExpressionPtr& condition) { return columns_in(*condition).contains(column.id); };
    if (std::ranges::none_of(conditions, asks)) continue;
    renamed[column.id] = next_column_;
    column.id = next_column_++;
    key_columns.push_back(column);
    keys.positions.push_back(i);
  }
  std::vector<ExpressionPtr> links;
  for (const ExpressionPtr& condition : conditions) {
    links.push_back(sql::map_columns(condition, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
      const auto found = renamed.find(column.column);
      return sql::make_column(whole.type, found == renamed.end() ? column.column : found->second, column.name);
    }));
  }
  KeptInput kept{shared.number, make_logical(std::move(shared), apply.input->columns), nullptr};
  LogicalPtr of_keys = make_logical(std::move(keys), std::move(key_columns));
  kept.rows = make_logical(LogicalJoin{JoinKind::kSemi, rows, std::move(of_keys), sql::conjunction(std::move(links))}, rows->columns);
  return kept;
}

std::optional<Planned> PhysicalPlanner::plan_decorrelated(const Logical& node, const LogicalApply& apply, const Wish& wish) {
  const bool exists = apply.kind == LogicalApply::Kind::kExists;
  if (!exists && apply.kind != LogicalApply::Kind::kScalar) return {};
  std::optional<Link> link;
  LogicalPtr joined;
  std::optional<KeptInput> kept;
  bool reads_whole = false;
  const auto is_by_index = [&] {
    return std::ranges::any_of(link->keys, [&](const LogicalColumn& key) { return is_looked_up(*apply.subquery, key.id); });
  };
  if (exists) {
    const auto* project = std::get_if<LogicalProject>(&apply.subquery->node);
    link = take_apart(apply, project != nullptr ? project->input : apply.subquery);
    if (!link) return {};
    joined = existence_join(node, apply, *link);
  } else {
    const std::optional<ScalarAggregate> scalar = match_scalar_aggregate(apply);
    if (!scalar) return {};
    const auto& [aggregate, answers, of_answers] = *scalar;
    link = take_apart(apply, aggregate->input);
    if (!link) return {};
    reads_whole = finds_most(apply, *link);
    if (is_by_index() && !reads_whole) kept = keep_outer_rows(apply, link->rows, link->conditions);
    if (kept) link->rows = kept->rows;
    LogicalAggregate grouped{link->rows, {}, aggregate->calls, false};
    std::vector<LogicalColumn> columns = link->keys;
    for (const LogicalColumn& key : link->keys) grouped.group_by.push_back(reference(key));
    columns.insert(columns.end(), answers->begin(), answers->end());
    std::map<ColumnId, ExpressionPtr> values;
    for (std::size_t i = 0; i < aggregate->calls.size(); ++i) {
      ExpressionPtr value = reference((*answers)[i]);
      if (aggregate->calls[i].function->name == "count") {
        value = sql::make_expression(value->type, sql::CoalesceCall{{value, sql::make_constant(sql::kInt8, std::int64_t{0})}});
      }
      values[(*answers)[i].id] = std::move(value);
    }
    ExpressionPtr value = sql::map_columns(of_answers, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
      const auto found = values.find(column.column);
      return found == values.end() ? sql::make_expression(whole.type, column, whole.offset) : found->second;
    });
    link->rows = make_logical(std::move(grouped), std::move(columns));
    joined = with_value(node, left_join(kept ? kept->outer : apply.input, link->rows, *link), std::move(value));
  }
  if (kept) return plan(make_logical(LogicalShare{joined, apply.input, kept->number, "outer rows"}, joined->columns), wish);
  // Keeps the lookups unless an index answers for all keys at once, or no index finds the rows of one key.
  if (!reads_whole && !is_index_group(*link->rows) && is_by_index()) return {};
  return plan(joined, wish);
}

}  // namespace redquel::planner
