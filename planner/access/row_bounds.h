#pragma once

#include "planner/tree/logical_plan.h"
#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// What a condition over the columns of a table of the schema redis says of the rows to ask for: at least those that satisfy it.
RowBounds row_bounds(const Logical& node, const LogicalSystemScan& scan, const sql::Expression& condition);

}  // namespace redquel::planner
