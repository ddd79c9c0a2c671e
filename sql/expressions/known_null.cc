#include "sql/expressions/known_null.h"

#include <algorithm>

#include "sql/expressions/evaluate.h"
#include "sql/functions/array_subscript.h"

namespace redquel::sql {
namespace {

bool is_bound(const ParameterRef& parameter, const EvaluationContext& context) { return parameter.slot < context.known_parameters; }

/// Returns true if neither rows nor the surroundings decide the value.
bool is_fixed(const Expression& expression, const EvaluationContext& context) {
  if (std::holds_alternative<ColumnRef>(expression.node)) return false;
  if (const auto* parameter = std::get_if<ParameterRef>(&expression.node)) return is_bound(*parameter, context);
  if (const auto* call = std::get_if<FunctionCall>(&expression.node); call != nullptr && call->function->volatility != Volatility::kImmutable) return false;
  bool fixed = true;
  for_each_child(expression, [&](const ExpressionPtr& child) { fixed = fixed && is_fixed(*child, context); });
  return fixed;
}

}  // namespace

std::span<const ExpressionPtr> deciding_arguments(const FunctionCall& call) {
  const std::span<const ExpressionPtr> all(call.arguments);
  if (is_subscript(*call.function)) return all.first(0);
  // PostgreSQL makes an array of variadic arguments, which is not NULL.
  if (call.function->strict && call.function->variadic) return all.first(call.function->arguments.size() - 1);
  return call.function->strict ? all : all.first(0);
}

bool is_known_null(const Expression& expression, const EvaluationContext& context) {
  const auto known = [&](const ExpressionPtr& child) { return is_known_null(*child, context); };
  const auto& node = expression.node;
  if (const auto* constant = std::get_if<Constant>(&node)) return is_null(constant->value);
  if (const auto* parameter = std::get_if<ParameterRef>(&node)) return is_bound(*parameter, context) && is_null(context.parameters[parameter->slot]);
  if (const auto* call = std::get_if<FunctionCall>(&node)) return std::ranges::any_of(deciding_arguments(*call), known);
  if (const auto* cast = std::get_if<CastCall>(&node)) return known(cast->operand);
  if (const auto* test = std::get_if<InListTest>(&node)) return known(test->operand);
  if (const auto* call = std::get_if<NullIfCall>(&node)) return known(call->left);
  return false;
}

void check_fixed_parts(const Expression& expression, const EvaluationContext& context) {
  if (std::holds_alternative<CaseCall>(expression.node) || std::holds_alternative<CoalesceCall>(expression.node)) return;
  for_each_child(expression, [&](const ExpressionPtr& child) {
    if (is_fixed(*child, context)) {
      evaluate_scalar(*child, context);
    } else {
      check_fixed_parts(*child, context);
    }
  });
}

}  // namespace redquel::sql
