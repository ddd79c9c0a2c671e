#include "executor/statements/make_operator.h"

#include "executor/operators/operators.h"
#include "executor/tables/changed_rows.h"
#include "executor/tables/index_answers.h"
#include "executor/tables/lookup_join.h"
#include "executor/tables/mapped_scan.h"
#include "executor/tables/memory_scan.h"
#include "executor/tables/source_operator.h"
#include "executor/writes/writes.h"
#include "sql/stack_depth.h"

namespace redquel::executor {

namespace {

/// One overload per kind of node: a kind without one does not compile.
struct MakeByKind {
  const planner::PhysicalNode& node;
  ExecutionContext& context;

  OperatorPtr operator()(const planner::KeyLookup& plan) const {
    return with_changed_rows(make_key_lookup(node, plan, context), plan, context);
  }
  OperatorPtr operator()(const planner::UniqueLookup& plan) const {
    return with_changed_rows(make_unique_lookup(node, plan, context), plan.read, context);
  }
  OperatorPtr operator()(const planner::SetScan& plan) const {
    return with_changed_rows(make_set_scan(node, plan, context), plan.read, context);
  }
  OperatorPtr operator()(const planner::OrderedScan& plan) const {
    return with_changed_rows(make_ordered_scan(node, plan, context), plan.read, context);
  }
  OperatorPtr operator()(const planner::FullScan& plan) const {
    return with_changed_rows(make_full_scan(node, plan, context), plan.read, context);
  }
  OperatorPtr operator()(const planner::MemoryScan& plan) const {
    return make_memory_scan(node, plan, context);  // adds changed rows by itself
  }
  OperatorPtr operator()(const planner::IndexCount& plan) const { return make_index_count(node, plan, context); }
  OperatorPtr operator()(const planner::IndexMinMax& plan) const { return make_index_min_max(node, plan, context); }
  OperatorPtr operator()(const planner::IndexGroups& plan) const { return make_index_groups(node, plan, context); }
  OperatorPtr operator()(const planner::MappedScan& plan) const {
    return with_changed_rows(make_mapped_scan(node, plan, context), plan.read, context);
  }
  OperatorPtr operator()(const planner::MappedJoin& plan) const { return make_mapped_join(node, plan, context); }
  OperatorPtr operator()(const planner::IndexKeys& plan) const { return make_index_keys(node, plan, context); }
  OperatorPtr operator()(const planner::IndexValues& plan) const { return make_index_values(node, plan, context); }
  OperatorPtr operator()(const planner::IndexRanks& plan) const { return make_index_ranks(node, plan, context); }
  OperatorPtr operator()(const planner::MappedCount& plan) const { return make_mapped_count(node, plan, context); }
  OperatorPtr operator()(const planner::Choice& plan) const { return make_choice(node, plan, context); }
  OperatorPtr operator()(const planner::AdaptiveJoin& plan) const { return make_adaptive_join(node, plan, context); }
  OperatorPtr operator()(const planner::LookupJoin& plan) const { return make_lookup_join(node, plan, context); }

  OperatorPtr operator()(const planner::Gather& plan) const { return make_gather(node, plan, context); }

  OperatorPtr operator()(const planner::PhysicalValues& plan) const { return make_values(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalFunctionScan& plan) const {
    return make_function_scan(node, plan, context);
  }
  OperatorPtr operator()(const planner::PhysicalSystemScan& plan) const {
    return make_system_scan(node, plan, context);
  }
  OperatorPtr operator()(const planner::PhysicalFilter& plan) const { return make_filter(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalProject& plan) const { return make_project(node, plan, context); }
  OperatorPtr operator()(const planner::HashJoin& plan) const { return make_hash_join(node, plan, context); }
  OperatorPtr operator()(const planner::NestedLoopJoin& plan) const {
    return make_nested_loop_join(node, plan, context);
  }
  OperatorPtr operator()(const planner::PhysicalApply& plan) const { return make_apply(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalAggregate& plan) const { return make_aggregate(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalWindow& plan) const { return make_window(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalSort& plan) const { return make_sort(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalLockRows& plan) const { return make_lock_rows(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalLimit& plan) const { return make_limit(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalDistinct& plan) const { return make_distinct(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalSetOperation& plan) const {
    return make_set_operation(node, plan, context);
  }
  OperatorPtr operator()(const planner::PhysicalShare& plan) const { return make_share(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalSharedScan& plan) const { return make_shared_scan(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalRecursiveUnion& plan) const {
    return make_recursive_union(node, plan, context);
  }

  OperatorPtr operator()(const planner::PhysicalInsert& plan) const { return make_insert(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalUpdate& plan) const { return make_update(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalDelete& plan) const { return make_delete(node, plan, context); }
  OperatorPtr operator()(const planner::PhysicalViewWrite& plan) const { return make_view_write(plan, context); }
  OperatorPtr operator()(const planner::PhysicalMerge& plan) const { return make_merge(node, plan, context); }
};

}  // namespace

OperatorPtr make_operator(const planner::PhysicalNode& node, ExecutionContext& context) {
  sql::check_stack_depth();
  OperatorPtr made = std::visit(MakeByKind{node, context}, node.node);
  if (context.statistics != nullptr) made = make_instrumented(node, std::move(made), context);
  return made;
}

}  // namespace redquel::executor
