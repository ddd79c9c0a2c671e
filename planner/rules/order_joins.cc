#include <algorithm>

#include "planner/rules/rule.h"

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

bool is_equality(const sql::Expression& condition) {
  const auto* call = std::get_if<sql::FunctionCall>(&condition.node);
  return call && call->function->name == "=" && call->arguments.size() == 2;
}

/// 2: an equality links the relation to what is joined already; 1: some condition does; 0: it would be a cross product.
int connection(const JoinChain& chain, const std::set<ColumnId>& joined, const Logical& relation) {
  auto own = ids_of(relation);
  int best = 0;
  for (const ExpressionPtr& condition : chain.conditions) {
    auto used = columns_in(*condition);
    bool touches = std::any_of(used.begin(), used.end(), [&](ColumnId id) { return own.contains(id); });
    bool known = std::all_of(used.begin(), used.end(), [&](ColumnId id) { return own.contains(id) || joined.contains(id); });
    if (!touches || !known || is_subset(used, own)) continue;
    best = std::max(best, is_equality(*condition) ? 2 : 1);
  }
  return best;
}

LogicalPtr join_in_order(JoinChain chain) {
  LogicalPtr result = chain.relations.front();
  std::vector<LogicalPtr> waiting(chain.relations.begin() + 1, chain.relations.end());
  while (!waiting.empty()) {
    auto joined = ids_of(*result);
    auto best = waiting.begin();
    int best_connection = -1;
    for (auto it = waiting.begin(); it != waiting.end(); ++it) {
      int linked = connection(chain, joined, **it);
      if (linked > best_connection) best = it, best_connection = linked;  // ties keep the written order
    }
    LogicalPtr relation = *best;
    waiting.erase(best);
    auto ids = ids_of(*relation);
    ids.insert(joined.begin(), joined.end());
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
