#include "planner/rules/order_conditions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// PostgreSQL's cost of an operator is 1. The numbers below are those of its cost_qual_eval().
constexpr double kTwoConversions = 2, kElementsOfUnknownArray = 10, kShareOfComparedElements = 0.5, kHashedList = 2;
constexpr std::size_t kLeastHashedList = 9;

struct OwnCost {
  double operator()(const sql::FunctionCall& call) const { return call.function->name.starts_with('[') ? 0 : 1; }  // [: a subscript
  double operator()(const sql::CastCall& cast) const {
    using Method = sql::CastCall::Method;
    if (std::holds_alternative<sql::ParameterRef>(cast.operand->node)) return 0;  // computed once
    return cast.method == Method::kRelabel ? 0 : cast.method == Method::kInputOutput ? kTwoConversions : 1;
  }
  double operator()(const sql::InListTest& test) const {
    const std::size_t count = test.list.size();
    return count >= kLeastHashedList ? kHashedList : kShareOfComparedElements * static_cast<double>(count);
  }
  double operator()(const sql::ArrayTest&) const { return kElementsOfUnknownArray * kShareOfComparedElements; }
  double operator()(const OneOf<sql::GreatestLeast, sql::DistinctTest, sql::NullIfCall, sql::DomainTest> auto&) const { return 1; }
  double operator()(const OneOf<sql::Constant, sql::ColumnRef, sql::ParameterRef, sql::Logical, sql::NullTest, sql::BooleanTest, sql::CaseCall,
                                sql::CoalesceCall> auto&) const {
    return 0;
  }
};

double cost_of(const ExpressionPtr& expression) {
  double cost = std::visit(OwnCost{}, expression->node);
  sql::for_each_child(*expression, [&](const ExpressionPtr& child) { cost += cost_of(child); });
  return cost;
}

ExpressionPtr ordered(const ExpressionPtr& condition) {
  if (!condition) return condition;
  std::vector<std::pair<double, ExpressionPtr>> conditions;
  for (const ExpressionPtr& one : sql::split_conjunction(condition)) conditions.emplace_back(cost_of(one), one);
  constexpr auto cost = &std::pair<double, ExpressionPtr>::first;
  if (std::ranges::is_sorted(conditions, {}, cost)) return condition;
  std::ranges::stable_sort(conditions, {}, cost);
  std::vector<ExpressionPtr> sorted;
  for (auto& [own, one] : conditions) sorted.push_back(std::move(one));
  return sql::conjunction(std::move(sorted));
}

}  // namespace

LogicalPtr order_conditions(const LogicalPtr& plan) {
  std::vector<LogicalPtr> inputs = inputs_of(*plan);
  for (LogicalPtr& input : inputs) input = order_conditions(input);
  const LogicalPtr node = inputs.empty() ? plan : with_inputs(*plan, inputs);
  if (const auto* filter = std::get_if<LogicalFilter>(&node->node)) {
    const ExpressionPtr condition = ordered(filter->condition);
    return condition == filter->condition ? node : make_logical(LogicalFilter{filter->input, condition, filter->barrier}, node->columns);
  }
  if (const auto* join = std::get_if<LogicalJoin>(&node->node)) {
    LogicalJoin changed = *join;
    changed.condition = ordered(join->condition);
    return changed.condition == join->condition ? node : make_logical(std::move(changed), node->columns);
  }
  return node;
}

}  // namespace redquel::planner
