#include <algorithm>

#include "sql/error.h"
#include "sql/expressions/constant_set.h"
#include "sql/expressions/evaluate.h"
#include "sql/expressions/known_null.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
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

bool is_null_constant(const ExpressionPtr& expression) {
  const Datum* constant = constant_of(expression);
  return constant != nullptr && is_null(*constant);
}

/// Returns true if the node computes a value from constants alone.
bool has_constant_children(const ExpressionPtr& expression) {
  bool all =
      !std::holds_alternative<ColumnRef>(expression->node) && !std::holds_alternative<ParameterRef>(expression->node);
  for_each_child(*expression, [&](const ExpressionPtr& child) { all = all && constant_of(child) != nullptr; });
  return all;
}

/// Returns true if a part of a folded expression is constant and has no value (`1/0`). Its error counts, even beside a NULL.
bool has_failing_part(const ExpressionPtr& expression) {
  if (constant_of(expression) != nullptr) return false;
  bool fails = has_constant_children(expression) && is_foldable(*expression);
  for_each_child(*expression, [&](const ExpressionPtr& child) { fails = fails || has_failing_part(child); });
  return fails;
}

/// NULL in place of a strict operation on NULL, whose other operands are not computed then.
ExpressionPtr null_of(const ExpressionPtr& expression) {
  if (has_failing_part(expression)) return expression;
  return make_expression(expression->type, Constant{}, expression->offset);
}

/// Returns true for `NULL OR (NULL AND …)`: a comparison of rows whose first fields compare as NULL ends there.
bool is_null_row_comparison(const Logical& logical) {
  if (logical.kind != Logical::Kind::kOr || logical.operands.size() != 2 || !is_null_constant(logical.operands[0])) return false;
  const auto* tie = std::get_if<Logical>(&logical.operands[1]->node);
  return tie != nullptr && tie->kind == Logical::Kind::kAnd && is_null_constant(tie->operands[0]);
}

/// AND and OR lose their neutral operands and end at the first deciding one.
ExpressionPtr simplify(const ExpressionPtr& expression, const Logical& logical) {
  if (logical.kind == Logical::Kind::kNot) return expression;
  if (is_null_row_comparison(logical)) return null_of(expression);
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
    if (is_null_constant(argument)) continue;
    kept.arguments.push_back(argument);
    if (constant != nullptr) break;
  }
  if (kept.arguments.empty()) return make_constant(expression->type, Datum{});
  if (kept.arguments.size() == 1 && kept.arguments[0]->type == expression->type) return kept.arguments[0];
  if (kept.arguments.size() == call.arguments.size()) return expression;
  return make_expression(expression->type, std::move(kept), expression->offset);
}

ExpressionPtr simplify(const ExpressionPtr& expression, const FunctionCall& call) {
  return std::ranges::any_of(deciding_arguments(call), is_null_constant) ? null_of(expression) : expression;
}

/// A cast of NULL is NULL, even if other values are cast as the session's settings say. Conditions of domains are no casts.
ExpressionPtr simplify(const ExpressionPtr& expression, const CastCall& cast) {
  return is_null_constant(cast.operand) ? null_of(expression) : expression;
}

ExpressionPtr simplify(const ExpressionPtr& expression, const NullIfCall& call) {
  if (!is_null_constant(call.left) && !is_null_constant(call.right)) return expression;
  return call.left->type == expression->type && !has_failing_part(expression) ? call.left : expression;
}

ExpressionPtr simplify(const ExpressionPtr& expression, const InListTest& test) {
  if (is_null_constant(test.operand) || (test.list.size() == 1 && is_null_constant(test.list[0]))) return null_of(expression);
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

/// Plans stay in the plan cache: what can be computed again is not kept there if it is large.
bool is_too_large(const Datum& value) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && text->size() > kMostBytes;
}

}  // namespace

ExpressionPtr fold_constants(const ExpressionPtr& expression, const EvaluationContext& context) {
  if (constant_of(expression) != nullptr) return expression;
  note_analysis();
  const ExpressionPtr folded =
      simplify(map_children(expression, [&](const ExpressionPtr& child) { return fold_constants(child, context); }));
  if (constant_of(folded) != nullptr || !has_constant_children(folded) || !is_foldable(*folded)) return folded;
  try {
    Datum value = evaluate_scalar(*folded, context);
    if (is_too_large(value)) return folded;
    return make_expression(folded->type, Constant{std::move(value)}, folded->offset);
  } catch (const SqlError& error) {
    if (error.sqlstate() == sqlstate::kQueryCanceled) throw;
    return folded;
  }
}

}  // namespace redquel::sql
