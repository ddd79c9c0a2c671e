#include "sql/expressions/implication.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "sql/types/compare.h"

namespace redquel::sql {

namespace {

/// `value op constant`, turned so that the constant is on the right.
struct Comparison {
  const Expression* value;
  std::string_view operation;
  const Expression* constant;
};

std::string_view flipped(std::string_view operation) {
  if (operation == "<") return ">";
  if (operation == "<=") return ">=";
  if (operation == ">") return "<";
  if (operation == ">=") return "<=";
  return operation;
}

std::optional<Comparison> comparison_of(const Expression& condition) {
  const auto* call = std::get_if<FunctionCall>(&condition.node);
  if (call == nullptr || call->arguments.size() != 2) return {};
  const std::string_view name = call->function->name;
  if (name != "=" && name != "<" && name != "<=" && name != ">" && name != ">=" && name != "<>") return {};
  const Expression &left = *call->arguments[0], &right = *call->arguments[1];
  if (std::holds_alternative<Constant>(right.node)) return Comparison{&left, name, &right};
  if (std::holds_alternative<Constant>(left.node)) return Comparison{&right, flipped(name), &left};
  return {};
}

/// Returns true if `value held a` implies `value wanted b`; `order` is how a compares with b.
bool follows(std::string_view held, std::string_view wanted, int order) {
  if (held == "=") {
    if (wanted == "=") return order == 0;
    if (wanted == "<>") return order != 0;
    if (wanted == "<") return order < 0;
    if (wanted == "<=") return order <= 0;
    return wanted == ">" ? order > 0 : order >= 0;
  }
  const bool is_below = held == "<" || held == "<=", is_above = held == ">" || held == ">=";
  const bool is_open = held == "<" || held == ">";
  if (wanted == "<>") return (is_below && (order < 0 || (is_open && order == 0))) || (is_above && (order > 0 || (is_open && order == 0)));
  if (is_below && wanted == "<") return order < 0 || (is_open && order == 0);
  if (is_below && wanted == "<=") return order <= 0;
  if (is_above && wanted == ">") return order > 0 || (is_open && order == 0);
  if (is_above && wanted == ">=") return order >= 0;
  return false;
}

/// Returns true if the condition is never true where the value is NULL.
bool needs_value(const Expression& condition, const Expression& value) {
  if (const auto* call = std::get_if<FunctionCall>(&condition.node)) {
    return call->function->strict && std::ranges::any_of(call->arguments, [&](const ExpressionPtr& argument) { return equal(*argument, value); });
  }
  if (const auto* list = std::get_if<InListTest>(&condition.node)) return equal(*list->operand, value);
  return false;
}

bool implies(const Expression& held, const Expression& wanted) {
  if (equal(held, wanted)) return true;
  if (const auto* test = std::get_if<NullTest>(&wanted.node)) return test->negated && needs_value(held, *test->operand);
  const auto a = comparison_of(held), b = comparison_of(wanted);
  if (!a || !b || a->constant->type.oid != b->constant->type.oid || !equal(*a->value, *b->value)) return false;
  const Datum &x = std::get<Constant>(a->constant->node).value, &y = std::get<Constant>(b->constant->node).value;
  return !is_null(x) && !is_null(y) && follows(a->operation, b->operation, compare(a->constant->type, x, y));
}

}  // namespace

bool implies_all(const std::vector<ExpressionPtr>& conditions, const ExpressionPtr& predicate) {
  return std::ranges::all_of(split_conjunction(predicate), [&](const ExpressionPtr& part) {
    return std::ranges::any_of(conditions, [&](const ExpressionPtr& held) { return implies(*held, *part); });
  });
}

}  // namespace redquel::sql
