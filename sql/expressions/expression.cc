#include "sql/expressions/expression.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "sql/functions/object_names.h"
#include "sql/interrupts.h"
#include "sql/overloaded.h"
#include "sql/types/compare.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

template <class T, class... Candidates>
inline constexpr bool kIsAnyOf = (std::is_same_v<T, Candidates> || ...);

/// Calls `visit` with every child of a node (const or not), in order of evaluation.
template <class Node, class Visit>
void visit_children(Node& variant, Visit&& visit) {
  std::visit(
      [&](auto& node) {
        using T = std::remove_cvref_t<decltype(node)>;
        if constexpr (kIsAnyOf<T, FunctionCall, CoalesceCall, GreatestLeast>) {
          for (auto& argument : node.arguments) visit(argument);
        } else if constexpr (kIsAnyOf<T, CastCall, NullTest, BooleanTest, DomainTest>) {
          visit(node.operand);
        } else if constexpr (kIsAnyOf<T, Logical>) {
          for (auto& operand : node.operands) visit(operand);
        } else if constexpr (kIsAnyOf<T, DistinctTest, NullIfCall>) {
          visit(node.left);
          visit(node.right);
        } else if constexpr (kIsAnyOf<T, CaseCall>) {
          for (auto& branch : node.branches) {
            visit(branch.condition);
            visit(branch.result);
          }
          visit(node.otherwise);
        } else if constexpr (kIsAnyOf<T, ArrayTest>) {
          visit(node.operand);
          visit(node.array);
        } else if constexpr (kIsAnyOf<T, InListTest>) {
          visit(node.operand);
          for (auto& element : node.list) visit(element);
        } else {
          static_assert(kIsAnyOf<T, Constant, ColumnRef, ParameterRef>, "a new node must say what its children are");
        }
      },
      variant);
}

/// Not SQL's equality: 1.0 and 1.00 print differently, so they are different constants; NaN is itself.
bool same_constant(const Datum& a, const Datum& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      Overloaded{
          [&](const float& value) {
            return std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(std::get<float>(b));
          },
          [&](const double& value) {
            return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(std::get<double>(b));
          },
          [&](const Numeric& value) {
            const Numeric& other = std::get<Numeric>(b);
            return value.scale() == other.scale() && value == other;
          },
          [&](const auto& value) { return value == std::get<std::remove_cvref_t<decltype(value)>>(b); },
      },
      a);
}

/// The fields of a node that are not children.
bool same_node(const Expression::Node& a, const Expression::Node& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& node) {
        using Node = std::remove_cvref_t<decltype(node)>;
        const Node& other = std::get<Node>(b);
        if constexpr (std::is_same_v<Node, Constant>) return same_constant(node.value, other.value);
        if constexpr (std::is_same_v<Node, ColumnRef>) return node.column == other.column;
        if constexpr (std::is_same_v<Node, ParameterRef>) return node.slot == other.slot;
        if constexpr (std::is_same_v<Node, FunctionCall>) return node.function == other.function;
        if constexpr (std::is_same_v<Node, CastCall>) {
          return node.method == other.method && node.function == other.function &&
                 node.is_explicit == other.is_explicit;
        }
        if constexpr (std::is_same_v<Node, Logical>) return node.kind == other.kind;
        if constexpr (std::is_same_v<Node, DomainTest>) return node.schema == other.schema && node.domain == other.domain;
        if constexpr (std::is_same_v<Node, NullTest>) return node.negated == other.negated;
        if constexpr (std::is_same_v<Node, BooleanTest>)
          return node.kind == other.kind && node.negated == other.negated;
        if constexpr (std::is_same_v<Node, CaseCall>) return node.branches.size() == other.branches.size();
        if constexpr (std::is_same_v<Node, GreatestLeast>) return node.greatest == other.greatest;
        if constexpr (std::is_same_v<Node, DistinctTest> || std::is_same_v<Node, InListTest>) {
          return node.equal == other.equal && node.negated == other.negated;
        }
        if constexpr (std::is_same_v<Node, NullIfCall>) return node.equal == other.equal;
        if constexpr (std::is_same_v<Node, ArrayTest>) {
          return node.comparison == other.comparison && node.element == other.element && node.all == other.all;
        }
        return true;
      },
      a);
}

std::size_t combine(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

std::vector<const Expression*> children_of(const Expression& expression) {
  std::vector<const Expression*> children;
  visit_children(expression.node, [&](const ExpressionPtr& child) { children.push_back(child.get()); });
  return children;
}

template <class Predicate>
bool any_node(const Expression& expression, const Predicate& predicate) {
  note_analysis();
  if (predicate(expression)) return true;
  bool found = false;
  visit_children(expression.node, [&](const ExpressionPtr& child) { found = found || any_node(*child, predicate); });
  return found;
}

/// 'now' is a time of day, too; of the types that settings touch it is known anyway.
bool input_depends_on_clock(Type type) { return type.oid == oid::kTime || type.oid == oid::kTimetz; }

Volatility volatility_of(const Expression& expression) {
  if (std::holds_alternative<DomainTest>(expression.node)) return Volatility::kStable;  // its conditions may change
  if (const auto* call = std::get_if<FunctionCall>(&expression.node)) return call->function->volatility;
  if (const auto* cast = std::get_if<CastCall>(&expression.node)) {
    if (cast->function != nullptr) return cast->function->volatility;
    if (cast->method == CastCall::Method::kInputOutput &&
        (input_depends_on_clock(expression.type) || output_depends_on_settings(expression.type) || output_depends_on_settings(cast->operand->type) ||
         is_object_name_type(expression.type.oid) || shows_object_names(cast->operand->type.oid))) {
      return Volatility::kStable;
    }
  }
  return Volatility::kImmutable;
}

}  // namespace

ExpressionPtr make_constant(Type type, Datum value) { return make_expression(type, Constant{std::move(value)}); }

ExpressionPtr make_column(Type type, std::uint32_t column, std::string name) {
  return make_expression(type, ColumnRef{column, std::move(name)});
}

ExpressionPtr conjunction(std::vector<ExpressionPtr> conditions) {
  if (conditions.empty()) return nullptr;
  if (conditions.size() == 1) return std::move(conditions.front());
  return make_expression(kBool, Logical{Logical::Kind::kAnd, std::move(conditions)});
}

std::vector<ExpressionPtr> split_conjunction(const ExpressionPtr& condition) {
  std::vector<ExpressionPtr> conditions;
  if (!condition) return conditions;
  const auto* logical = std::get_if<Logical>(&condition->node);
  if (logical == nullptr || logical->kind != Logical::Kind::kAnd) return {condition};
  for (const ExpressionPtr& operand : logical->operands) {
    std::vector<ExpressionPtr> inner = split_conjunction(operand);
    conditions.insert(conditions.end(), inner.begin(), inner.end());
  }
  return conditions;
}

void for_each_child(const Expression& expression, const std::function<void(const ExpressionPtr&)>& visit) {
  visit_children(expression.node, [&](const ExpressionPtr& child) {
    note_analysis();
    visit(child);
  });
}

ExpressionPtr map_children(const ExpressionPtr& expression,
                           const std::function<ExpressionPtr(const ExpressionPtr&)>& change) {
  Expression copy = *expression;
  bool changed = false;
  visit_children(copy.node, [&](ExpressionPtr& child) {
    note_analysis();
    ExpressionPtr replacement = change(child);
    changed = changed || replacement != child;
    child = std::move(replacement);
  });
  if (!changed) return expression;
  if (auto* list = std::get_if<InListTest>(&copy.node)) list->constants = nullptr;
  return std::make_shared<const Expression>(std::move(copy));
}

ExpressionPtr map_columns(const ExpressionPtr& expression,
                          const std::function<ExpressionPtr(const Expression&, const ColumnRef&)>& change) {
  if (const auto* column = std::get_if<ColumnRef>(&expression->node)) return change(*expression, *column);
  ExpressionPtr mapped =
      map_children(expression, [&](const ExpressionPtr& child) { return map_columns(child, change); });
  if (mapped == expression) return expression;
  // A list of constants has not changed when only its operand has.
  const auto* before = std::get_if<InListTest>(&expression->node);
  if (before == nullptr || before->constants == nullptr) return mapped;
  Expression copy = *mapped;
  std::get<InListTest>(copy.node).constants = before->constants;
  return std::make_shared<const Expression>(std::move(copy));
}

void collect_columns(const Expression& expression, std::vector<std::uint32_t>& columns) {
  note_analysis();
  if (const auto* column = std::get_if<ColumnRef>(&expression.node)) columns.push_back(column->column);
  visit_children(expression.node, [&](const ExpressionPtr& child) { collect_columns(*child, columns); });
}

bool is_foldable(const Expression& expression) {
  return !any_node(expression, [](const Expression& node) {
    return std::holds_alternative<ColumnRef>(node.node) || std::holds_alternative<ParameterRef>(node.node) ||
           volatility_of(node) != Volatility::kImmutable;
  });
}

bool is_volatile(const Expression& expression) {
  return any_node(expression, [](const Expression& node) { return volatility_of(node) == Volatility::kVolatile; });
}

bool references_parameters(const Expression& expression) {
  return any_node(expression, [](const Expression& node) { return std::holds_alternative<ParameterRef>(node.node); });
}

bool equal(const Expression& a, const Expression& b) {
  if (&a == &b) return true;
  if (a.type != b.type || !same_node(a.node, b.node)) return false;
  std::vector<const Expression*> left = children_of(a), right = children_of(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Expression* x, const Expression* y) { return equal(*x, *y); });
}

std::size_t hash(const Expression& expression) {
  std::size_t seed = combine(expression.node.index(), expression.type.oid);
  if (const auto* constant = std::get_if<Constant>(&expression.node)) {
    seed = combine(seed, is_null(constant->value) ? 0 : hash(expression.type, constant->value));
  } else if (const auto* column = std::get_if<ColumnRef>(&expression.node)) {
    seed = combine(seed, column->column);
  } else if (const auto* parameter = std::get_if<ParameterRef>(&expression.node)) {
    seed = combine(seed, parameter->slot);
  } else if (const auto* call = std::get_if<FunctionCall>(&expression.node)) {
    seed = combine(seed, std::hash<const void*>{}(call->function));
  }
  visit_children(expression.node, [&](const ExpressionPtr& child) { seed = combine(seed, hash(*child)); });
  return seed;
}

}  // namespace redquel::sql
