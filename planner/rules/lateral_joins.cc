#include "planner/rules/lateral_joins.h"

#include <algorithm>

#include "planner/bind/plan_nodes.h"
#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// The columns of the input that fill the slots which the subquery reads.
CorrelationFrame frame_of(const LogicalApply& apply) {
  CorrelationFrame frame;
  for (const auto& [slot, column] : apply.correlations) {
    frame.push_back({slot, reference(*std::ranges::find(apply.input->columns, column, &LogicalColumn::id))});
  }
  return frame;
}

ExpressionPtr over_input(const ExpressionPtr& expression, const CorrelationFrame& frame) {
  return map_parameters(expression, [&](const ExpressionPtr& parameter, std::uint32_t slot) {
    const auto found = std::ranges::find(frame, slot, &Correlation::slot);
    return found == frame.end() ? parameter : found->value;
  });
}

LogicalPtr flatten(const Logical& node, const LogicalApply& apply);

LogicalPtr apply_to(LogicalApply apply, const LogicalPtr& subquery) {
  std::vector<LogicalColumn> columns = apply.input->columns;
  columns.insert(columns.end(), subquery->columns.begin(), subquery->columns.end());
  apply.subquery = subquery;
  std::erase_if(apply.correlations, [&](const LogicalApply::Correlation& correlation) {
    return !reads_slots(*subquery, CorrelationFrame{{correlation.slot, nullptr}});
  });
  const LogicalPtr node = make_logical(std::move(apply), std::move(columns));
  const LogicalPtr flat = flatten(*node, std::get<LogicalApply>(node->node));
  return flat ? flat : node;
}

/// Rows of functions, filtered and computed with, but nothing that an index could answer.
bool is_of_functions(const Logical& node) {
  if (const auto* project = std::get_if<LogicalProject>(&node.node)) return is_of_functions(*project->input);
  if (const auto* filter = std::get_if<LogicalFilter>(&node.node)) return is_of_functions(*filter->input);
  return std::holds_alternative<LogicalFunctionScan>(node.node);
}

/// nullptr: it stays as it is.
LogicalPtr flatten(const Logical& node, const LogicalApply& apply) {
  const CorrelationFrame frame = frame_of(apply);
  const auto* values = std::get_if<LogicalValues>(&apply.subquery->node);
  if (values != nullptr && values->rows.size() == 1) {
    std::vector<ExpressionPtr> expressions;
    for (const LogicalColumn& column : apply.input->columns) expressions.push_back(reference(column));
    for (const ExpressionPtr& value : values->rows[0]) expressions.push_back(over_input(value, frame));
    return make_logical(LogicalProject{apply.input, std::move(expressions)}, node.columns);
  }
  // Nodes above a function are computed for many of its rows at once, not anew for each row of the input.
  const auto* project = std::get_if<LogicalProject>(&apply.subquery->node);
  if (project != nullptr && is_of_functions(*project->input)) {
    const LogicalPtr rest = apply_to(apply, project->input);
    std::vector<ExpressionPtr> expressions;
    for (const LogicalColumn& column : apply.input->columns) expressions.push_back(reference(column));
    for (const ExpressionPtr& expression : project->expressions) expressions.push_back(over_input(expression, frame));
    return make_logical(LogicalProject{rest, std::move(expressions)}, node.columns);
  }
  const auto* filter = std::get_if<LogicalFilter>(&apply.subquery->node);
  if (filter != nullptr && is_of_functions(*filter->input)) {
    return make_logical(LogicalFilter{apply_to(apply, filter->input), over_input(filter->condition, frame), filter->barrier}, node.columns);
  }
  const auto* join = std::get_if<LogicalJoin>(&apply.subquery->node);
  if (join == nullptr || join->kind != JoinKind::kInner) return nullptr;
  for (const auto& [fixed, other] : {std::pair(join->left, join->right), std::pair(join->right, join->left)}) {
    if (reads_slots(*fixed, frame) || has_volatile(*fixed)) continue;
    const LogicalPtr rest = apply_to(apply, other);
    std::vector<LogicalColumn> columns = rest->columns;
    columns.insert(columns.end(), fixed->columns.begin(), fixed->columns.end());
    const ExpressionPtr condition = join->condition ? over_input(join->condition, frame) : nullptr;
    return make_logical(LogicalJoin{JoinKind::kInner, rest, fixed, condition}, std::move(columns));
  }
  return nullptr;
}

}  // namespace

LogicalPtr flatten_laterals(const LogicalPtr& node) {
  std::vector<LogicalPtr> inputs = inputs_of(*node);
  if (inputs.empty()) return node;
  for (LogicalPtr& input : inputs) input = flatten_laterals(input);
  const LogicalPtr result = with_inputs(*node, inputs);
  const auto* apply = std::get_if<LogicalApply>(&result->node);
  if (apply == nullptr || apply->kind != LogicalApply::Kind::kLateral || apply->join != JoinKind::kInner) return result;
  const LogicalPtr flat = flatten(*result, *apply);
  return flat ? flat : result;
}

}  // namespace redquel::planner
