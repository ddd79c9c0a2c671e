#include "planner/rules/rule.h"

#include <algorithm>

#include "planner/rules/array_membership.h"
#include "planner/rules/lateral_joins.h"
#include "planner/rules/self_joins.h"
#include "sql/functions/sequence_calls.h"

namespace redquel::planner {

std::span<const Rule> rewrite_rules() {
  static constexpr Rule kRules[] = {
      {"fold constants", fold_constants},
      {"flatten laterals", flatten_laterals},
      {"push down filters", push_down_filters},
      {"join array elements", join_array_elements},
      {"order joins", order_joins},
      {"merge self-joins", merge_self_joins},
      {"prune columns", prune_columns},
  };
  return kRules;
}

LogicalPtr rewrite(LogicalPtr plan) {
  for (const Rule& rule : rewrite_rules()) plan = rule.rewrite(plan);
  return plan;
}

std::set<ColumnId> ids_of(const Logical& node) {
  std::set<ColumnId> ids;
  for (const LogicalColumn& column : node.columns) ids.insert(column.id);
  return ids;
}

std::set<ColumnId> columns_in(const sql::Expression& expression) {
  std::vector<std::uint32_t> columns;
  sql::collect_columns(expression, columns);
  return {columns.begin(), columns.end()};
}

bool is_subset(const std::set<ColumnId>& part, const std::set<ColumnId>& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

LogicalPtr make_logical(Logical::Node node, std::vector<LogicalColumn> columns) {
  return std::make_shared<const Logical>(Logical{std::move(node), std::move(columns)});
}

LogicalPtr filtered(LogicalPtr input, std::vector<sql::ExpressionPtr> conditions) {
  if (conditions.empty()) return input;
  auto columns = input->columns;
  return make_logical(LogicalFilter{std::move(input), sql::conjunction(std::move(conditions))}, std::move(columns));
}

bool waits(const sql::Expression& expression) {
  const auto* call = std::get_if<sql::FunctionCall>(&expression.node);
  bool found = call != nullptr && sql::is_sequence_function(*call->function);
  if (!found) sql::for_each_child(expression, [&](const sql::ExpressionPtr& child) { found = found || waits(*child); });
  return found;
}

bool asks_for_current_value(const sql::Expression& expression) {
  const auto* call = std::get_if<sql::FunctionCall>(&expression.node);
  bool asks = call != nullptr && (call->function->name == "currval" || call->function->name == "lastval");
  sql::for_each_child(expression, [&](const sql::ExpressionPtr& child) { asks = asks || asks_for_current_value(*child); });
  return asks;
}

namespace {

/// Calls `visit` with every input of a node; a null LogicalPtr is never passed.
template <class Node, class Visit>
void visit_inputs(Node& node, const Visit& visit) {
  std::visit(
      [&](auto& n) {
        if constexpr (requires { n.input; }) visit(n.input);
        if constexpr (requires { n.left; }) visit(n.left);
        if constexpr (requires { n.right; }) visit(n.right);
        if constexpr (requires { n.subquery; }) visit(n.subquery);
        if constexpr (requires { n.source; }) visit(n.source);
      },
      node);
}

}  // namespace

std::vector<LogicalPtr> inputs_of(const Logical& node) {
  std::vector<LogicalPtr> inputs;
  visit_inputs(node.node, [&](const LogicalPtr& input) { inputs.push_back(input); });
  return inputs;
}

LogicalPtr with_inputs(const Logical& node, const std::vector<LogicalPtr>& inputs) {
  Logical copy = node;
  std::size_t next = 0;
  visit_inputs(copy.node, [&](LogicalPtr& input) { input = inputs[next++]; });
  return std::make_shared<const Logical>(std::move(copy));
}

}  // namespace redquel::planner
