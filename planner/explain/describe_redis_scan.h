#pragma once

#include "planner/explain/describe_commands.h"
#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// The commands that read a table of the schema redis; none for other system tables.
CommandText describe_redis_scan(const PhysicalSystemScan& scan);

}  // namespace redquel::planner
