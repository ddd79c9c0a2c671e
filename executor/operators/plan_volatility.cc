#include "executor/operators/plan_volatility.h"

#include <algorithm>

#include "planner/tree/plan_walk.h"

namespace redquel::executor {

namespace {

bool any_volatile(const sql::ExpressionPtr& expression) { return expression && sql::is_volatile(*expression); }
bool any_volatile(const planner::RowGoal& goal) { return any_volatile(goal.limit) || any_volatile(goal.offset); }
bool any_volatile(const planner::SortKey& key) { return any_volatile(key.expression); }
bool any_volatile(const planner::AggregateCall::Order& order) { return any_volatile(order.expression); }
bool any_volatile(const planner::AggregateCall& call);
bool any_volatile(const planner::WindowCall& call) {
  bool found = false;
  planner::for_each_expression(call, [&](const sql::ExpressionPtr& expression) { found = found || any_volatile(expression); });
  return found;
}
template <class T>
bool any_volatile(const std::vector<T>& items) {
  return std::any_of(items.begin(), items.end(), [](const T& item) { return any_volatile(item); });
}
bool any_volatile(const planner::AggregateCall& call) {
  return any_volatile(call.arguments) || any_volatile(call.filter) || any_volatile(call.order_by);
}

/// The node's own expressions. The condition of a table read covers keys, sets and ranges, which are made from it.
struct OwnVolatility {
  bool operator()(const planner::KeyLookup& n) const { return any_volatile(n.read.condition); }
  bool operator()(const planner::UniqueLookup& n) const { return any_volatile(n.read.condition); }
  bool operator()(const planner::SetScan& n) const { return any_volatile(n.read.condition) || any_volatile(n.goal); }
  bool operator()(const planner::OrderedScan& n) const {
    return any_volatile(n.read.condition) || any_volatile(n.goal);
  }
  bool operator()(const planner::FullScan& n) const { return any_volatile(n.read.condition) || any_volatile(n.goal); }
  bool operator()(const planner::MemoryScan& n) const { return any_volatile(n.read.condition); }
  bool operator()(const planner::MappedScan& n) const { return any_volatile(n.read.condition) || any_volatile(n.goal); }
  bool operator()(const planner::MappedJoin& n) const { return any_volatile(n.residual) || any_volatile(n.inner.read.condition); }
  bool operator()(const planner::Gather& n) const { return any_volatile(n.keys); }  // limits are over parameters alone
  bool operator()(const planner::PhysicalValues& n) const { return any_volatile(n.rows); }
  bool operator()(const planner::PhysicalFunctionScan& n) const {
    return std::any_of(n.calls.begin(), n.calls.end(), [](const auto& call) { return any_volatile(call.arguments); });
  }
  /// Nodes without expressions of their own, apart from those of their fallbacks and forms.
  bool operator()(
      const planner::OneOf<planner::IndexCount, planner::IndexMinMax, planner::IndexGroups, planner::IndexKeys,
                           planner::IndexValues, planner::IndexRanks, planner::MappedCount, planner::AdaptiveJoin,
                           planner::PhysicalShare, planner::PhysicalSharedScan, planner::PhysicalRecursiveUnion,
                           planner::PhysicalSystemScan> auto&) const {
    return false;
  }
  bool operator()(const planner::PhysicalFilter& n) const { return any_volatile(n.condition); }
  bool operator()(const planner::PhysicalProject& n) const { return any_volatile(n.expressions); }
  bool operator()(const planner::HashJoin& n) const {
    return any_volatile(n.left_keys) || any_volatile(n.right_keys) || any_volatile(n.residual);
  }
  bool operator()(const planner::NestedLoopJoin& n) const { return any_volatile(n.condition); }
  bool operator()(const planner::LookupJoin& n) const {
    return any_volatile(n.values) || any_volatile(n.residual) || any_volatile(n.read.condition);
  }
  bool operator()(const planner::PhysicalApply& n) const { return any_volatile(n.comparison); }
  bool operator()(const planner::PhysicalAggregate& n) const {
    return any_volatile(n.group_by) || any_volatile(n.calls);
  }
  bool operator()(const planner::PhysicalWindow& n) const { return any_volatile(n.functions); }
  bool operator()(const planner::PhysicalSort& n) const { return any_volatile(n.keys) || any_volatile(n.goal); }
  bool operator()(const planner::PhysicalLockRows&) const { return true; }
  bool operator()(const planner::Choice&) const { return false; }
  bool operator()(const planner::PhysicalLimit& n) const {
    return any_volatile(n.limit) || any_volatile(n.offset) || any_volatile(n.tie_keys);
  }
  bool operator()(const planner::PhysicalDistinct& n) const { return any_volatile(n.on); }
  bool operator()(const planner::PhysicalSetOperation&) const { return false; }
  bool operator()(const planner::PhysicalInsert&) const { return true; }
  bool operator()(const planner::PhysicalUpdate&) const { return true; }
  bool operator()(const planner::PhysicalDelete&) const { return true; }
  bool operator()(const planner::PhysicalMerge&) const { return true; }
  bool operator()(const planner::PhysicalViewWrite&) const { return true; }
};

}  // namespace

bool is_volatile(const planner::PhysicalNode& node) {
  return !planner::all_nodes(node,
                             [](const planner::PhysicalNode& part) { return !std::visit(OwnVolatility{}, part.node); });
}

}  // namespace redquel::executor
