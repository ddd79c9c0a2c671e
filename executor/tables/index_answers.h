#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"

namespace redquel::executor {

/// Answers from cardinalities and ends of indexes; no row is read unless the plan's fallback must run.
OperatorPtr make_index_count(const planner::PhysicalNode&, const planner::IndexCount&, ExecutionContext&);
OperatorPtr make_index_min_max(const planner::PhysicalNode&, const planner::IndexMinMax&, ExecutionContext&);
OperatorPtr make_index_groups(const planner::PhysicalNode&, const planner::IndexGroups&, ExecutionContext&);
OperatorPtr make_index_keys(const planner::PhysicalNode&, const planner::IndexKeys&, ExecutionContext&);
OperatorPtr make_index_values(const planner::PhysicalNode&, const planner::IndexValues&, ExecutionContext&);
/// Returns the context's limits; where the rows from which the fallback makes its answer are in memory, so many values that a scan of the copy
/// takes as long as counting them.
ReadLimits limits_of_values(const planner::PhysicalNode& fallback, ExecutionContext& context);
OperatorPtr make_index_ranks(const planner::PhysicalNode&, const planner::IndexRanks&, ExecutionContext&);
OperatorPtr make_mapped_count(const planner::PhysicalNode&, const planner::MappedCount&, ExecutionContext&);

}  // namespace redquel::executor
