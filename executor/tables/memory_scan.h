#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// A scan of a table's copy; of Redis where the copy does not serve.
OperatorPtr make_memory_scan(const planner::PhysicalNode& node, const planner::MemoryScan& scan, ExecutionContext& context);

}  // namespace redquel::executor
