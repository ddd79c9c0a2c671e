#pragma once

#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// Returns true if two runs of the plan over the same data and parameters may differ: volatile functions in it, or writes. The result of
/// such a subquery is not remembered for other rows.
bool is_volatile(const planner::PhysicalNode& node);

}  // namespace redquel::executor
