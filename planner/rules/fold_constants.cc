#include "planner/rules/rule.h"
#include "sql/expressions/evaluate.h"

namespace redquel::planner {

using sql::ExpressionPtr;

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
    }
    row(n);
  }
  void operator()(LogicalUpdate& n) const {
    for (Assignment& assignment : n.assignments) one(assignment.value);
    row(n);
  }
  void operator()(LogicalDelete& n) const { all(n.returning); }
  void operator()(LogicalMerge& n) const {
    for (MergeAction& action : n.actions) {
      one(action.condition);
      for (InsertColumn& column : action.columns) one(column.value);
      for (Assignment& assignment : action.assignments) one(assignment.value);
    }
    for (Assignment& assignment : n.generated) one(assignment.value);
    for (BoundCheck& check : n.checks) one(check.condition);
  }

 private:
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

enum class Truth { kAlways, kNever, kUnknown };

Truth truth_of(const sql::Expression& condition) {
  const auto* constant = std::get_if<sql::Constant>(&condition.node);
  if (!constant) return Truth::kUnknown;
  const auto* value = std::get_if<bool>(&constant->value);
  return value && *value ? Truth::kAlways : Truth::kNever;  // NULL is not true either
}

}  // namespace

LogicalPtr map_expressions(const Logical& node, const std::function<ExpressionPtr(const ExpressionPtr&)>& change) {
  Logical copy = node;
  std::visit(ExpressionChanger(change), copy.node);
  return std::make_shared<const Logical>(std::move(copy));
}

LogicalPtr fold_constants(const LogicalPtr& plan) {
  static const sql::SessionSettings kSettings;
  sql::EvaluationContext context;
  context.settings = &kSettings;
  std::vector<LogicalPtr> inputs = inputs_of(*plan);
  for (LogicalPtr& input : inputs) input = fold_constants(input);
  LogicalPtr node = inputs.empty() ? plan : with_inputs(*plan, inputs);
  node = map_expressions(*node, [&](const ExpressionPtr& e) { return sql::fold_constants(e, context); });

  const auto* filter = std::get_if<LogicalFilter>(&node->node);
  if (!filter) return node;
  std::vector<ExpressionPtr> left;
  for (const ExpressionPtr& condition : sql::split_conjunction(filter->condition)) {
    Truth truth = truth_of(*condition);
    if (truth == Truth::kNever) return make_logical(LogicalValues{}, node->columns);
    if (truth == Truth::kUnknown) left.push_back(condition);
  }
  return filtered(filter->input, std::move(left));
}

}  // namespace redquel::planner
