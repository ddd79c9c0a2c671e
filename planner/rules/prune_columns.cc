#include <algorithm>
#include <iterator>
#include <map>

#include "planner/rules/rule.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/spread_table.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using Ids = std::set<ColumnId>;

namespace {

LogicalPtr prune(const LogicalPtr& node, const Ids& needed);

void need(Ids& ids, const ExpressionPtr& expression) {
  if (expression) ids.merge(columns_in(*expression));
}

std::vector<LogicalColumn> kept(const std::vector<LogicalColumn>& columns, const Ids& needed) {
  std::vector<LogicalColumn> result;
  for (const LogicalColumn& column : columns) {
    if (needed.contains(column.id)) result.push_back(column);
  }
  return result;
}

LogicalPtr prune_scan(const Logical& node, LogicalScan scan, const Ids& needed) {
  std::vector<std::int16_t> numbers;
  for (std::size_t i = 0; i < node.columns.size(); ++i) {
    if (needed.contains(node.columns[i].id)) numbers.push_back(scan.numbers[i]);
  }
  scan.numbers = std::move(numbers);
  return make_logical(std::move(scan), kept(node.columns, needed));
}

LogicalPtr prune_system_scan(const Logical& node, LogicalSystemScan scan, const Ids& needed) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < node.columns.size(); ++i) {
    if (needed.contains(node.columns[i].id)) positions.push_back(scan.positions[i]);
  }
  scan.positions = std::move(positions);
  return make_logical(std::move(scan), kept(node.columns, needed));
}

LogicalPtr prune_project(const Logical& node, LogicalProject project, const Ids& needed) {
  std::vector<ExpressionPtr> expressions;
  std::vector<LogicalColumn> columns;
  Ids below;
  for (std::size_t i = 0; i < node.columns.size(); ++i) {
    // A volatile function is called for each row, whether its value is read or not (nextval(), pg_sleep()).
    if (!needed.contains(node.columns[i].id) && !sql::is_volatile(*project.expressions[i])) continue;
    expressions.push_back(project.expressions[i]);
    columns.push_back(node.columns[i]);
    need(below, project.expressions[i]);
  }
  project.input = prune(project.input, below);
  project.expressions = std::move(expressions);
  return make_logical(std::move(project), std::move(columns));
}

LogicalPtr prune_aggregate(const Logical& node, LogicalAggregate aggregate, const Ids& needed) {
  std::size_t keys = aggregate.group_by.size();
  std::vector<LogicalColumn> columns(node.columns.begin(), node.columns.begin() + static_cast<std::ptrdiff_t>(keys));
  std::vector<AggregateCall> calls;
  Ids below;
  for (const ExpressionPtr& key : aggregate.group_by) need(below, key);
  for (std::size_t i = 0; i < aggregate.calls.size(); ++i) {
    if (!needed.contains(node.columns[keys + i].id)) continue;
    for (const ExpressionPtr& argument : aggregate.calls[i].arguments) need(below, argument);
    for (const auto& order : aggregate.calls[i].order_by) need(below, order.expression);
    need(below, aggregate.calls[i].filter);
    calls.push_back(aggregate.calls[i]);
    columns.push_back(node.columns[keys + i]);
  }
  aggregate.calls = std::move(calls);
  aggregate.input = prune(aggregate.input, below);
  return make_logical(std::move(aggregate), std::move(columns));
}

LogicalPtr prune_join(const Logical& node, LogicalJoin join, Ids needed) {
  auto columns = kept(node.columns, needed);
  need(needed, join.condition);
  join.left = prune(join.left, needed);
  join.right = prune(join.right, needed);
  return make_logical(std::move(join), std::move(columns));
}

/// Takes the select list of an EXISTS away: it is not computed.
LogicalPtr without_outputs(const LogicalPtr& node) {
  if (const auto* project = std::get_if<LogicalProject>(&node->node)) return make_logical(LogicalProject{project->input, {}}, {});
  const auto* limit = std::get_if<LogicalLimit>(&node->node);
  if (limit == nullptr || limit->with_ties) return node;
  const LogicalPtr input = without_outputs(inputs_of(*node)[0]);
  return make_logical(with_inputs(*node, {input})->node, input->columns);
}

LogicalPtr prune_apply(const Logical& node, LogicalApply apply, Ids needed) {
  // An unused subquery is not evaluated.
  if (apply.kind != LogicalApply::Kind::kLateral && !needed.contains(node.columns.back().id)) return prune(apply.input, needed);
  auto columns = kept(node.columns, needed);
  need(needed, apply.comparison);
  for (const auto& correlation : apply.correlations) needed.insert(correlation.column);
  apply.input = prune(apply.input, needed);
  // EXISTS reads no column; a scalar or IN subquery has just those that are used.
  Ids inner = apply.kind == LogicalApply::Kind::kLateral ? needed : Ids{};
  if (apply.kind == LogicalApply::Kind::kScalar || apply.kind == LogicalApply::Kind::kIn) inner = ids_of(*apply.subquery);
  if (apply.kind == LogicalApply::Kind::kExists) apply.subquery = without_outputs(apply.subquery);
  apply.subquery = prune(apply.subquery, inner);
  return make_logical(std::move(apply), std::move(columns));
}

LogicalPtr prune_shared_scan(const Logical& node, LogicalSharedScan scan, const Ids& needed) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < node.columns.size(); ++i) {
    if (needed.contains(node.columns[i].id)) positions.push_back(scan.positions[i]);
  }
  scan.positions = std::move(positions);
  return make_logical(std::move(scan), kept(node.columns, needed));
}

void note_positions(const Logical& node, std::uint32_t number, std::set<std::size_t>& positions) {
  const auto* scan = std::get_if<LogicalSharedScan>(&node.node);
  if (scan && scan->number == number) positions.insert(scan->positions.begin(), scan->positions.end());
  for (const LogicalPtr& input : inputs_of(node)) note_positions(*input, number, positions);
}

LogicalPtr with_positions(const LogicalPtr& node, std::uint32_t number, const std::map<std::size_t, std::size_t>& moved) {
  if (const auto* scan = std::get_if<LogicalSharedScan>(&node->node)) {
    if (scan->number != number) return node;
    LogicalSharedScan copy = *scan;
    for (std::size_t& position : copy.positions) position = moved.at(position);
    return make_logical(std::move(copy), node->columns);
  }
  std::vector<LogicalPtr> inputs = inputs_of(*node);
  for (LogicalPtr& input : inputs) input = with_positions(input, number, moved);
  return inputs.empty() ? node : with_inputs(*node, inputs);
}

/// The source gives what its readers need together.
LogicalPtr prune_share(LogicalShare share, const Ids& needed) {
  share.input = prune(share.input, needed);
  std::set<std::size_t> positions;
  note_positions(*share.input, share.number, positions);
  Ids read;
  for (const std::size_t position : positions) read.insert(share.source->columns[position].id);
  const LogicalPtr source = prune(share.source, read);
  std::map<std::size_t, std::size_t> moved;
  for (const std::size_t position : positions) {
    const auto found = std::ranges::find(source->columns, share.source->columns[position].id, &LogicalColumn::id);
    moved[position] = static_cast<std::size_t>(found - source->columns.begin());
  }
  share.input = with_positions(share.input, share.number, moved);
  share.source = source;
  auto columns = share.input->columns;
  return make_logical(std::move(share), std::move(columns));
}

LogicalPtr prune_window(const Logical& node, LogicalWindow window, Ids needed) {
  const std::size_t first = node.columns.size() - window.functions.size();
  std::vector<WindowCall> functions;
  std::vector<LogicalColumn> added;
  for (std::size_t i = 0; i < window.functions.size(); ++i) {
    if (!needed.contains(node.columns[first + i].id)) continue;
    for_each_expression(window.functions[i], [&](const ExpressionPtr& e) { need(needed, e); });
    functions.push_back(window.functions[i]);
    added.push_back(node.columns[first + i]);
  }
  for (const ExpressionPtr& key : window.partition_by) need(needed, key);
  for (const SortKey& key : window.order_by) need(needed, key.expression);
  LogicalPtr input = prune(window.input, needed);
  if (functions.empty()) return input;
  auto columns = input->columns;
  columns.insert(columns.end(), added.begin(), added.end());
  window.input = std::move(input);
  window.functions = std::move(functions);
  return make_logical(std::move(window), std::move(columns));
}

void note_columns(const Logical& node, Ids& used) {
  visit_expressions(node, [&](const ExpressionPtr& expression) { need(used, expression); });
  for (const LogicalPtr& input : inputs_of(node)) note_columns(*input, used);
}

/// The locked rows need their key and the columns that decide the answer: these must not have changed when the rows are locked.
LogicalPtr prune_lock_rows(LogicalLockRows locks, Ids needed) {
  Ids used = needed;
  note_columns(*locks.input, used);
  for (LogicalLockRows::Mark& mark : locks.marks) {
    // Some columns say in which part the row lies.
    const std::vector<std::int16_t> of_parts = mark.table->parts.empty() ? std::vector<std::int16_t>() : sql::columns_of_parts(*mark.table);
    std::erase_if(mark.row, [&](const LogicalColumn& column) {
      const bool names_part = std::ranges::find(of_parts, column.attribute) != of_parts.end();
      const bool is_key = column.attribute == 0 || names_part || mark.table->in_primary_key(column.attribute);
      return !used.contains(column.id) && !is_key;
    });
    for (const LogicalColumn& column : mark.row) needed.insert(column.id);
  }
  // The conditions are evaluated again where a row has changed, with the other tables' columns as they were.
  if (locks.bound) {
    std::ranges::copy_if(ids_of(*locks.input), std::inserter(needed, needed.end()),
                         [&](ColumnId id) { return used.contains(id); });
  }
  locks.input = prune(locks.input, needed);
  auto columns = locks.input->columns;
  return make_logical(std::move(locks), std::move(columns));
}

/// Keeps all columns of a node whose rows are compared as a whole (DISTINCT, UNION, the top of a statement).
LogicalPtr prune_whole(const Logical& node) {
  std::vector<LogicalPtr> inputs = inputs_of(node);
  for (LogicalPtr& input : inputs) input = prune(input, ids_of(*input));
  return inputs.empty() ? std::make_shared<const Logical>(node) : with_inputs(node, inputs);
}

/// The rows that a statement changes are read whole, but for a hidden column that it does not look at.
LogicalPtr prune_changed_rows(const Logical& node, const LogicalPtr& source, const std::vector<LogicalColumn>& old_row,
                              const std::vector<LogicalColumn>& new_row, const std::vector<Assignment>& assignments) {
  Ids used;
  note_columns(node, used);
  Ids needed = ids_of(*source);
  for (std::size_t i = 0; i < old_row.size(); ++i) {
    const bool is_assigned = std::ranges::find(assignments, old_row[i].attribute, &Assignment::number) != assignments.end();
    const bool is_seen = is_assigned || used.contains(old_row[i].id) || (i < new_row.size() && used.contains(new_row[i].id));
    if (old_row[i].attribute == sql::kTtlColumn && !is_seen) needed.erase(old_row[i].id);
  }
  return with_inputs(node, {prune(source, needed)});
}

LogicalPtr prune_merge(const Logical& node, const LogicalMerge& merge) {
  std::vector<Assignment> assignments;
  for (const MergeAction& action : merge.actions) assignments.insert(assignments.end(), action.assignments.begin(), action.assignments.end());
  return prune_changed_rows(node, merge.source, merge.old_row, merge.new_row, assignments);
}

/// Filter, Sort, Limit, Distinct: their columns are their input's.
LogicalPtr prune_through(const Logical& node, const Ids& needed) {
  LogicalPtr input = prune(inputs_of(node)[0], needed);
  LogicalPtr result = with_inputs(node, {input});
  return make_logical(result->node, input->columns);
}

/// Returns the rest of each kind of node if only `needed` columns are read.
struct Pruned {
  const Logical& node;
  const Ids& needed;

  LogicalPtr operator()(const LogicalScan& scan) const { return prune_scan(node, scan, needed); }
  LogicalPtr operator()(const LogicalSystemScan& scan) const { return prune_system_scan(node, scan, needed); }
  LogicalPtr operator()(const LogicalSharedScan& scan) const { return prune_shared_scan(node, scan, needed); }
  LogicalPtr operator()(const LogicalProject& project) const { return prune_project(node, project, needed); }
  LogicalPtr operator()(const LogicalJoin& join) const { return prune_join(node, join, needed); }
  LogicalPtr operator()(const LogicalApply& apply) const { return prune_apply(node, apply, needed); }
  LogicalPtr operator()(const LogicalAggregate& aggregate) const { return prune_aggregate(node, aggregate, needed); }
  LogicalPtr operator()(const LogicalWindow& window) const { return prune_window(node, window, needed); }
  LogicalPtr operator()(const LogicalLockRows& locks) const { return prune_lock_rows(locks, needed); }
  LogicalPtr operator()(const LogicalShare& share) const { return prune_share(share, needed); }
  LogicalPtr operator()(const OneOf<LogicalFilter, LogicalSort, LogicalLimit> auto& same) const { return through(same); }
  LogicalPtr operator()(const LogicalDistinct& distinct) const { return distinct.on.empty() ? prune_whole(node) : through(distinct); }
  LogicalPtr operator()(const LogicalInsert& insert) const {
    if (!insert.conflict_update) return prune_whole(node);
    return prune_changed_rows(node, insert.source, insert.conflict_update->old_row, insert.new_row, insert.conflict_update->assignments);
  }
  LogicalPtr operator()(const LogicalUpdate& update) const {
    return prune_changed_rows(node, update.source, update.old_row, update.new_row, update.assignments);
  }
  LogicalPtr operator()(const LogicalDelete& removal) const { return prune_changed_rows(node, removal.source, removal.old_row, {}, {}); }
  LogicalPtr operator()(const LogicalMerge& merge) const { return prune_merge(node, merge); }
  LogicalPtr operator()(const OneOf<LogicalValues, LogicalFunctionScan, LogicalSetOperation, LogicalRecursiveUnion> auto&) const {
    return prune_whole(node);
  }

 private:
  /// A node whose columns are its input's.
  LogicalPtr through(const auto& same) const {
    Ids below = needed;
    for_each_expression(same, [&](const ExpressionPtr& expression) { need(below, expression); });
    return prune_through(node, below);
  }
};

LogicalPtr prune(const LogicalPtr& node, const Ids& needed) { return std::visit(Pruned{*node, needed}, node->node); }

}  // namespace

LogicalPtr prune_columns(const LogicalPtr& plan) { return prune(plan, ids_of(*plan)); }

}  // namespace redquel::planner
