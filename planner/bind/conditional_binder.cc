#include <fmt/format.h>

#include "planner/bind/expression_binder.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/plan_nodes.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::CastContext;
using sql::ExpressionPtr;

ExpressionBinder::Operands ExpressionBinder::coerce_to_common(const Operands& operands, std::string_view construct,
                                                              sql::Type& type) {
  type = common_type(operands, construct);
  Operands converted;
  for (const ExpressionPtr& operand : operands)
    converted.push_back(in_common_type(state_, operand, type));
  return converted;
}

ExpressionPtr ExpressionBinder::node(const ast::Case& node, const Whole& whole) {
  Scoped conditional(level_.conditional, "CASE");
  ExpressionPtr argument;
  if (node.argument) {
    argument = resolve_unknown(state_, bind(*node.argument));
    if (node.whens.size() > 1) check_repeatable(*argument);
  }
  sql::CaseCall result;
  Operands results;
  for (const ast::CaseWhen& when : node.whens) {
    ExpressionPtr condition = bind(*when.condition);
    if (argument) {
      condition = make_operator(state_, "=", argument, condition, state_.position(when.offset));
    }
    result.branches.push_back({coerce_to_boolean(state_, condition, "CASE/WHEN"), nullptr});
    results.push_back(bind(*when.result));
  }
  // ELSE is looked at first, as PostgreSQL does: messages name its type first.
  results.insert(results.begin(),
                 node.otherwise ? bind(*node.otherwise)
                                : sql::make_expression(sql::kUnknown, sql::Constant{}, std::optional<std::uint32_t>()));
  sql::Type type;
  results = coerce_to_common(results, "CASE", type);
  if (state_.names != nullptr && !node.otherwise) state_.names->case_types[&node] = type_in_words(type);
  result.otherwise = results[0];
  for (std::size_t i = 0; i < result.branches.size(); ++i) result.branches[i].result = results[i + 1];
  return sql::make_expression(type, std::move(result), start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::Coalesce& node, const Whole& whole) {
  Scoped conditional(level_.conditional, "COALESCE");
  sql::Type type;
  Operands arguments = coerce_to_common(bind_all(node.arguments), "COALESCE", type);
  return sql::make_expression(type, sql::CoalesceCall{std::move(arguments)}, start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::MinMax& node, const Whole& whole) {
  sql::Type type;
  Operands arguments = coerce_to_common(bind_all(node.arguments), node.greatest ? "GREATEST" : "LEAST", type);
  sql::ordering_operator(type, false, start(whole));
  return sql::make_expression(type, sql::GreatestLeast{node.greatest, std::move(arguments)}, start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::NullIf& node, const Whole& whole) {
  const ExpressionPtr left = bind(*node.left), right = bind(*node.right);
  const sql::ResolvedFunction equal = sql::resolve_operator("=", left->type, right->type, token(whole));
  ExpressionPtr first = coerce(state_, left, equal.arguments[0], CastContext::kImplicit);
  ExpressionPtr second = coerce(state_, right, equal.arguments[1], CastContext::kImplicit);
  const sql::Type type = first->type;
  return sql::make_expression(type, sql::NullIfCall{equal.function, std::move(first), std::move(second)}, start(whole));
}

}  // namespace redquel::planner
