#pragma once

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// Returns true if only the rows before a row in the window's order decide the function's value.
bool depends_on_earlier_rows(const WindowCall& call);

/// Returns the window over only so many rows as a condition above it allows (`row_number <= 10`, `rank = 3`), or the window itself.
LogicalPtr limited_by_rank(const LogicalPtr& window, const sql::ExpressionPtr& condition);

}  // namespace redquel::planner
