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
OperatorPtr make_index_ranks(const planner::PhysicalNode&, const planner::IndexRanks&, ExecutionContext&);
OperatorPtr make_mapped_count(const planner::PhysicalNode&, const planner::MappedCount&, ExecutionContext&);

}  // namespace redquel::executor
