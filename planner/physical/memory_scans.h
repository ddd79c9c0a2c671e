#pragma once

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// Returns the plan of a query whose scans of whole tables read copies in memory. Plans that write or lock rows stay as they are.
PhysicalPlan with_memory_scans(const PhysicalPlan& plan);

}  // namespace redquel::planner
