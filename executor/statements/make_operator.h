#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// Makes the operator of a plan node of any kind, for ExecutionContext::make_operator(). With `context.statistics` each node's rows, loops and
/// time are noted there.
OperatorPtr make_operator(const planner::PhysicalNode& node, ExecutionContext& context);

}  // namespace redquel::executor
