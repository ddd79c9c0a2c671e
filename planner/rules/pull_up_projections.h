#pragma once

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// Projections of a join's inputs that only pick columns go above the join: rows of a view over a table are found by the table's keys.
LogicalPtr pull_up_projections(const LogicalPtr&);

}  // namespace redquel::planner
