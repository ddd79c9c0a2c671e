#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"

namespace redquel::executor {

/// redis.memory_by_prefix(depth [, percent]): keys by their first words, with the memory of a sample of each. `percent`: of the keys that are walked over.
OperatorPtr make_memory_by_prefix(const planner::PhysicalFunctionScan&, ExecutionContext&);

}  // namespace redquel::executor
