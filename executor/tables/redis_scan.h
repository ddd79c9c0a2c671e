#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// The rows of a table of the schema redis, asked of Redis as they are wanted: redis.keys and redis.streams in steps of SCAN.
OperatorPtr make_redis_scan(const planner::PhysicalNode&, const planner::PhysicalSystemScan&, ExecutionContext&);

}  // namespace redquel::executor
