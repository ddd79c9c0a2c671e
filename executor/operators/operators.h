#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

// One run of a plan node each; `ExecutionContext::make_operator` finds the right one. Plan and context outlive the operator.

OperatorPtr make_values(const planner::PhysicalNode&, const planner::PhysicalValues&, ExecutionContext&);
OperatorPtr make_function_scan(const planner::PhysicalNode&, const planner::PhysicalFunctionScan&, ExecutionContext&);
OperatorPtr make_system_scan(const planner::PhysicalNode&, const planner::PhysicalSystemScan&, ExecutionContext&);
OperatorPtr make_filter(const planner::PhysicalNode&, const planner::PhysicalFilter&, ExecutionContext&);
OperatorPtr make_project(const planner::PhysicalNode&, const planner::PhysicalProject&, ExecutionContext&);
OperatorPtr make_hash_join(const planner::PhysicalNode&, const planner::HashJoin&, ExecutionContext&);
/// Like make_hash_join() above, over a left input of the caller's.
OperatorPtr make_hash_join(const planner::HashJoin&, OperatorPtr left, ExecutionContext&);
OperatorPtr make_adaptive_join(const planner::PhysicalNode&, const planner::AdaptiveJoin&, ExecutionContext&);
OperatorPtr make_choice(const planner::PhysicalNode&, const planner::Choice&, ExecutionContext&);
OperatorPtr make_nested_loop_join(const planner::PhysicalNode&, const planner::NestedLoopJoin&, ExecutionContext&);
OperatorPtr make_apply(const planner::PhysicalNode&, const planner::PhysicalApply&, ExecutionContext&);
/// An Apply of kind kLateral.
OperatorPtr make_lateral(const planner::PhysicalNode&, const planner::PhysicalApply&, ExecutionContext&);
OperatorPtr make_aggregate(const planner::PhysicalNode&, const planner::PhysicalAggregate&, ExecutionContext&);
/// Makes the aggregate that hashes the groups of these rows.
OperatorPtr make_hash_aggregate(const planner::PhysicalNode&, const planner::PhysicalAggregate&, OperatorPtr rows, ExecutionContext&);
/// Makes the aggregate over rows that come group by group.
OperatorPtr make_group_aggregate(const planner::PhysicalNode&, const planner::PhysicalAggregate&, ExecutionContext&);
OperatorPtr make_window(const planner::PhysicalNode&, const planner::PhysicalWindow&, ExecutionContext&);
OperatorPtr make_sort(const planner::PhysicalNode&, const planner::PhysicalSort&, ExecutionContext&);
OperatorPtr make_limit(const planner::PhysicalNode&, const planner::PhysicalLimit&, ExecutionContext&);
OperatorPtr make_distinct(const planner::PhysicalNode&, const planner::PhysicalDistinct&, ExecutionContext&);
/// Each row of the input once. `name` is for messages.
OperatorPtr make_distinct_rows(OperatorPtr input, std::span<const sql::Type> types, const char* name, ExecutionContext&);
/// The parts of a table in several buckets, side by side.
OperatorPtr make_gather(const planner::PhysicalNode&, const planner::Gather&, ExecutionContext&);
OperatorPtr make_set_operation(const planner::PhysicalNode&, const planner::PhysicalSetOperation&, ExecutionContext&);
OperatorPtr make_share(const planner::PhysicalNode&, const planner::PhysicalShare&, ExecutionContext&);
OperatorPtr make_shared_scan(const planner::PhysicalNode&, const planner::PhysicalSharedScan&, ExecutionContext&);
OperatorPtr make_recursive_union(const planner::PhysicalNode&, const planner::PhysicalRecursiveUnion&, ExecutionContext&);

/// Notes rows, loops and time of `inner` in the context's statistics, which are set.
OperatorPtr make_instrumented(const planner::PhysicalNode&, OperatorPtr inner, ExecutionContext&);

}  // namespace redquel::executor
