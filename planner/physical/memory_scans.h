#pragma once

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// Returns the plan of a query whose scans of whole tables read copies in memory. Plans that write or lock rows stay as they are.
PhysicalPlan with_memory_scans(const PhysicalPlan& plan);

/// Returns true if copies in memory hold values of the type as integers in the values' order.
bool is_packed_integer(sql::Oid type);

}  // namespace redquel::planner
