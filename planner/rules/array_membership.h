#pragma once

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// `column = ANY (array)` over a table with an index on the column, where the array is only known at run time: a join with the array's
/// distinct elements, so that rows are looked up by them.
LogicalPtr join_array_elements(const LogicalPtr&);

}  // namespace redquel::planner
