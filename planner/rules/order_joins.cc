#include "planner/rules/join_order.h"
#include "planner/rules/rule.h"
#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// A tree of inner joins, taken apart.
struct JoinChain {
  std::vector<LogicalPtr> relations;
  std::vector<ExpressionPtr> conditions;
};

bool is_inner(const Logical& node) {
  const auto* join = std::get_if<LogicalJoin>(&node.node);
  return join && join->kind == JoinKind::kInner;
}

void take_apart(const LogicalPtr& node, JoinChain& chain) {
  if (!is_inner(*node)) {
    chain.relations.push_back(order_joins(node));
    return;
  }
  const auto& join = std::get<LogicalJoin>(node->node);
  take_apart(join.left, chain);
  take_apart(join.right, chain);
  if (join.condition) {
    auto conditions = sql::split_conjunction(join.condition);
    chain.conditions.insert(chain.conditions.end(), conditions.begin(), conditions.end());
  }
}

LogicalPtr join_in_order(JoinChain chain) {
  const std::vector<std::size_t> order = join_order(chain.relations, chain.conditions);
  LogicalPtr result = chain.relations[order.front()];
  for (std::size_t i = 1; i < order.size(); ++i) {
    const LogicalPtr& relation = chain.relations[order[i]];
    auto ids = ids_of(*result);
    ids.merge(ids_of(*relation));
    std::vector<ExpressionPtr> now, later;
    for (ExpressionPtr& condition : chain.conditions) (is_subset(columns_in(*condition), ids) ? now : later).push_back(condition);
    chain.conditions = std::move(later);
    auto columns = result->columns;
    columns.insert(columns.end(), relation->columns.begin(), relation->columns.end());
    result = make_logical(LogicalJoin{JoinKind::kInner, result, relation, sql::conjunction(std::move(now))}, std::move(columns));
  }
  return filtered(result, std::move(chain.conditions));
}

}  // namespace

LogicalPtr order_joins(const LogicalPtr& node) {
  if (is_inner(*node)) {
    JoinChain chain;
    take_apart(node, chain);
    return join_in_order(std::move(chain));
  }
  std::vector<LogicalPtr> inputs = inputs_of(*node);
  if (inputs.empty()) return node;
  for (LogicalPtr& input : inputs) input = order_joins(input);
  return with_inputs(*node, inputs);
}

}  // namespace redquel::planner
