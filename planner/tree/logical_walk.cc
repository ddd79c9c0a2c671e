#include "planner/tree/logical_walk.h"

#include <algorithm>

#include "sql/functions/sequence_calls.h"
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

namespace {

/// Changes every expression of a node in place. A missing member does not compile: each kind of node is named.
class ExpressionChanger {
 public:
  explicit ExpressionChanger(const std::function<ExpressionPtr(const ExpressionPtr&)>& change) : change_(change) {}

  void operator()(LogicalScan&) const {}
  void operator()(LogicalSystemScan&) const {}
  void operator()(LogicalSetOperation&) const {}
  void operator()(LogicalShare&) const {}
  void operator()(LogicalSharedScan&) const {}
  void operator()(LogicalRecursiveUnion&) const {}
  void operator()(LogicalFunctionScan& n) const {
    for (TableFunctionCall& call : n.calls) all(call.arguments);
  }
  void operator()(LogicalValues& n) const {
    for (auto& row : n.rows) all(row);
  }
  void operator()(LogicalFilter& n) const { one(n.condition); }
  void operator()(LogicalProject& n) const { all(n.expressions); }
  void operator()(LogicalJoin& n) const { one(n.condition); }
  void operator()(LogicalApply& n) const { one(n.comparison); }
  void operator()(LogicalAggregate& n) const {
    all(n.group_by);
    for (AggregateCall& call : n.calls) {
      all(call.arguments);
      one(call.filter);
      for (auto& order : call.order_by) one(order.expression);
    }
  }
  void operator()(LogicalWindow& n) const {
    // Keys stay columns.
    for (WindowCall& call : n.functions) visit_expressions(call, [this](ExpressionPtr& e) { one(e); });
  }
  void operator()(LogicalSort& n) const {
    for (SortKey& key : n.keys) one(key.expression);
  }
  void operator()(LogicalLockRows&) const {}
  void operator()(LogicalLimit& n) const {
    one(n.limit);
    one(n.offset);
  }
  void operator()(LogicalDistinct& n) const { all(n.on); }
  void operator()(LogicalInsert& n) const {
    for (InsertColumn& column : n.columns) one(column.value);
    if (n.conflict_update) {
      for (Assignment& assignment : n.conflict_update->assignments) one(assignment.value);
      one(n.conflict_update->condition);
      policies(n.conflict_update->policy_checks);
    }
    policies(n.policy_checks);
    row(n);
  }
  void operator()(LogicalUpdate& n) const {
    for (Assignment& assignment : n.assignments) one(assignment.value);
    policies(n.policy_checks);
    row(n);
  }
  void operator()(LogicalDelete& n) const { all(n.returning); }
  void operator()(LogicalMerge& n) const {
    for (MergeAction& action : n.actions) {
      one(action.condition);
      for (InsertColumn& column : action.columns) one(column.value);
      for (Assignment& assignment : action.assignments) one(assignment.value);
      policies(action.policy_checks);
    }
    for (Assignment& assignment : n.generated) one(assignment.value);
    for (BoundCheck& check : n.checks) one(check.condition);
  }

 private:
  void policies(std::vector<PolicyCheck>& checks) const {
    for (PolicyCheck& check : checks) one(check.condition);
  }
  void one(ExpressionPtr& expression) const {
    if (expression) expression = change_(expression);
  }
  void all(std::vector<ExpressionPtr>& expressions) const {
    for (ExpressionPtr& expression : expressions) one(expression);
  }
  template <class Write>
  void row(Write& n) const {
    for (Assignment& assignment : n.generated) one(assignment.value);
    for (BoundCheck& check : n.checks) one(check.condition);
    all(n.returning);
  }

  const std::function<ExpressionPtr(const ExpressionPtr&)>& change_;
};

}  // namespace

LogicalPtr map_expressions(const Logical& node, const std::function<ExpressionPtr(const ExpressionPtr&)>& change) {
  Logical copy = node;
  std::visit(ExpressionChanger(change), copy.node);
  return std::make_shared<const Logical>(std::move(copy));
}

}  // namespace redquel::planner
