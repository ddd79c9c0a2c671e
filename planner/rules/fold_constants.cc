#include "planner/rules/rule.h"
#include "planner/tree/logical_walk.h"
#include "sql/expressions/evaluate.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

enum class Truth { kAlways, kNever, kUnknown };

Truth truth_of(const sql::Expression& condition) {
  const auto* constant = std::get_if<sql::Constant>(&condition.node);
  if (!constant) return Truth::kUnknown;
  const auto* value = std::get_if<bool>(&constant->value);
  return value && *value ? Truth::kAlways : Truth::kNever;  // NULL is not true either
}

}  // namespace

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
  if (!filter->barrier || std::holds_alternative<LogicalScan>(filter->input->node)) {
    const LogicalPtr rows = filtered(filter->input, std::move(left));
    return filter->barrier && rows != filter->input ? behind_barrier(rows) : rows;
  }
  if (left.empty()) return make_logical(LogicalFilter{filter->input, sql::make_constant(sql::kBool, true), true}, node->columns);
  return make_logical(LogicalFilter{filter->input, sql::conjunction(std::move(left)), true}, node->columns);
}

}  // namespace redquel::planner
