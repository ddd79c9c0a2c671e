#pragma once

#include "planner/tree/logical_plan.h"
#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// Returns the bounds of the rows to ask for, from a condition over the columns of a table of the schema redis: at least the rows that
/// satisfy it.
RowBounds row_bounds(const Logical& node, const LogicalSystemScan& scan, const sql::Expression& condition);

}  // namespace redquel::planner
