#include "sql/error.h"
#include "sql/expressions/constant_set.h"
#include "sql/expressions/evaluate.h"
#include "sql/interrupts.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

/// From this many constants on, an IN list becomes a hash table (PostgreSQL's own threshold).
constexpr std::size_t kMinHashedList = 9;

const Datum* constant_of(const ExpressionPtr& expression) {
  const auto* constant = std::get_if<Constant>(&expression->node);
  return constant == nullptr ? nullptr : &constant->value;
}

bool is_constant_bool(const ExpressionPtr& expression, bool value) {
  const Datum* constant = constant_of(expression);
  const bool* boolean = constant == nullptr ? nullptr : std::get_if<bool>(constant);
  return boolean != nullptr && *boolean == value;
}

/// AND and OR lose their neutral operands and end at the first deciding one.
ExpressionPtr simplify(const ExpressionPtr& expression, const Logical& logical) {
  if (logical.kind == Logical::Kind::kNot) return expression;
  const bool deciding = logical.kind == Logical::Kind::kOr;
  std::vector<ExpressionPtr> operands;
  for (const ExpressionPtr& operand : logical.operands) {
    if (is_constant_bool(operand, deciding)) return operand;
    if (!is_constant_bool(operand, !deciding)) operands.push_back(operand);
  }
  if (operands.empty()) return make_constant(kBool, !deciding);
  if (operands.size() == 1) return operands.front();
  if (operands.size() == logical.operands.size()) return expression;
  return make_expression(kBool, Logical{logical.kind, std::move(operands)}, expression->offset);
}

ExpressionPtr simplify(const ExpressionPtr& expression, const CaseCall& call) {
  CaseCall kept;
  kept.otherwise = call.otherwise;
  for (const CaseCall::Branch& branch : call.branches) {
    if (is_constant_bool(branch.condition, true)) {
      kept.otherwise = branch.result;
      break;
    }
    const bool never = constant_of(branch.condition) != nullptr;  // false or NULL
    if (!never) kept.branches.push_back(branch);
  }
  if (kept.branches.empty()) return kept.otherwise;
  if (kept.branches.size() == call.branches.size()) return expression;
  return make_expression(expression->type, std::move(kept), expression->offset);
}

ExpressionPtr simplify(const ExpressionPtr& expression, const CoalesceCall& call) {
  CoalesceCall kept;
  for (const ExpressionPtr& argument : call.arguments) {
    const Datum* constant = constant_of(argument);
    if (constant != nullptr && is_null(*constant)) continue;
    kept.arguments.push_back(argument);
    if (constant != nullptr) break;
  }
  if (kept.arguments.empty()) return make_constant(expression->type, Datum{});
  if (kept.arguments.size() == 1 && kept.arguments[0]->type == expression->type) return kept.arguments[0];
  if (kept.arguments.size() == call.arguments.size()) return expression;
  return make_expression(expression->type, std::move(kept), expression->offset);
}

ExpressionPtr simplify(const ExpressionPtr& expression, const InListTest& test) {
  if (test.constants || test.list.size() < kMinHashedList) return expression;
  std::vector<Datum> values;
  for (const ExpressionPtr& element : test.list) {
    const Datum* constant = constant_of(element);
    if (constant == nullptr) return expression;
    values.push_back(*constant);
  }
  InListTest hashed = test;
  hashed.constants = std::make_shared<const ConstantSet>(Type{test.list.front()->type.oid}, values);
  return make_expression(expression->type, std::move(hashed), expression->offset);
}

ExpressionPtr simplify(const ExpressionPtr& expression) {
  return std::visit(
      [&](const auto& node) -> ExpressionPtr {
        if constexpr (requires { simplify(expression, node); }) {
          return simplify(expression, node);
        } else {
          return expression;
        }
      },
      expression->node);
}

/// Whether the node computes a value and all that it computes with is constant.
bool has_constant_children(const ExpressionPtr& expression) {
  bool all =
      !std::holds_alternative<ColumnRef>(expression->node) && !std::holds_alternative<ParameterRef>(expression->node);
  for_each_child(*expression, [&](const ExpressionPtr& child) { all = all && constant_of(child) != nullptr; });
  return all;
}

/// Plans stay in the plan cache: what can be computed again is not kept there if it is large.
bool is_too_large(const Datum& value) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && text->size() > kMostBytes;
}

}  // namespace

ExpressionPtr fold_constants(const ExpressionPtr& expression, const EvaluationContext& context) {
  if (constant_of(expression) != nullptr) return expression;
  const ExpressionPtr folded =
      simplify(map_children(expression, [&](const ExpressionPtr& child) { return fold_constants(child, context); }));
  if (constant_of(folded) != nullptr || !has_constant_children(folded) || !is_foldable(*folded)) return folded;
  try {
    Datum value = evaluate_scalar(*folded, context);
    if (is_too_large(value)) return folded;
    return make_expression(folded->type, Constant{std::move(value)}, folded->offset);
  } catch (const SqlError& error) {
    if (error.sqlstate() == kQueryCanceled) throw;
    return folded;
  }
}

}  // namespace redquel::sql
