#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "executor/copy/copy_input.h"
#include "planner/plan_copy.h"

namespace redquel::executor {

/// The rows of a client's COPY data, as `columns` has them. Errors set their place in the data at the channel. Data can be had once:
/// 40001 when the statement is run again after it asked for them. Everything passed outlives the operator.
OperatorPtr make_copy_source(const std::vector<planner::PhysicalColumn>& columns, const planner::PlannedCopy&, CopyInput&,
                             ExecutionContext&);

/// COPY … FROM: the insert `node` of `copy` over that source.
OperatorPtr make_copy_insert(const planner::PhysicalNode& node, const planner::PlannedCopy& copy, CopyInput&, ExecutionContext&);

}  // namespace redquel::executor
