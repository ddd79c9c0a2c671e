#include "planner/tree/logical_walk.h"

#include <algorithm>

#include "sql/functions/deferred_calls.h"
#include "sql/system_tables/leakproof.h"

namespace redquel::planner {

using sql::ExpressionPtr;

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

LogicalPtr behind_barrier(LogicalPtr input) {
  auto columns = input->columns;
  if (const auto* filter = std::get_if<LogicalFilter>(&input->node)) {
    return make_logical(LogicalFilter{filter->input, filter->condition, true}, std::move(columns));
  }
  return make_logical(LogicalFilter{std::move(input), sql::make_constant(sql::kBool, true), true}, std::move(columns));
}

bool is_true(const sql::Expression& expression) {
  const auto* constant = std::get_if<sql::Constant>(&expression.node);
  const auto* value = constant == nullptr ? nullptr : std::get_if<bool>(&constant->value);
  return value != nullptr && *value;
}

bool is_leakproof(const sql::Expression& expression) {
  const auto all_of = [](const std::vector<sql::ExpressionPtr>& parts) {
    return std::ranges::all_of(parts, [](const sql::ExpressionPtr& part) { return is_leakproof(*part); });
  };
  if (columns_in(expression).empty()) return true;
  if (std::holds_alternative<sql::ColumnRef>(expression.node)) return true;
  if (const auto* call = std::get_if<sql::FunctionCall>(&expression.node)) return sql::is_leakproof(*call->function) && all_of(call->arguments);
  if (const auto* cast = std::get_if<sql::CastCall>(&expression.node)) {
    const bool is_relabel = cast->method == sql::CastCall::Method::kRelabel;
    return (is_relabel || (cast->function != nullptr && sql::is_leakproof(*cast->function))) && is_leakproof(*cast->operand);
  }
  if (const auto* logical = std::get_if<sql::Logical>(&expression.node)) return all_of(logical->operands);
  if (const auto* test = std::get_if<sql::NullTest>(&expression.node)) return is_leakproof(*test->operand);
  if (const auto* test = std::get_if<sql::BooleanTest>(&expression.node)) return is_leakproof(*test->operand);
  if (const auto* test = std::get_if<sql::DistinctTest>(&expression.node)) {
    return sql::is_leakproof(*test->equal) && is_leakproof(*test->left) && is_leakproof(*test->right);
  }
  if (const auto* list = std::get_if<sql::InListTest>(&expression.node)) {
    return sql::is_leakproof(*list->equal) && is_leakproof(*list->operand) && all_of(list->list);
  }
  if (const auto* choice = std::get_if<sql::CaseCall>(&expression.node)) {
    return is_leakproof(*choice->otherwise) && std::ranges::all_of(choice->branches, [](const sql::CaseCall::Branch& branch) {
      return is_leakproof(*branch.condition) && is_leakproof(*branch.result);
    });
  }
  return false;
}

bool waits(const sql::Expression& expression) {
  const auto* call = std::get_if<sql::FunctionCall>(&expression.node);
  bool found = call != nullptr && sql::is_deferred_function(*call->function);
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
  std::visit([&](auto& n) { for_each_part<Input>(n, visit); }, node);
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

LogicalPtr map_expressions(const Logical& node, const std::function<ExpressionPtr(const ExpressionPtr&)>& change) {
  Logical copy = node;
  std::visit([&](auto& n) { for_each_expression(n, [&](ExpressionPtr& expression) { expression = change(expression); }); }, copy.node);
  return std::make_shared<const Logical>(std::move(copy));
}

void visit_expressions(const Logical& node, const std::function<void(const ExpressionPtr&)>& visit) {
  std::visit(
      [&](const auto& n) {
        for_each_part<ColumnKeys>(n, [&](const auto& keys) { for_each_expression(keys, visit); });
        for_each_expression(n, visit);
      },
      node.node);
}

}  // namespace redquel::planner
