#pragma once

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// LATERAL that is read row by row, where a plain join would do: the side of an inner join in it that does not look at the row is joined
/// behind it, and one row of expressions becomes columns.
LogicalPtr flatten_laterals(const LogicalPtr&);

}  // namespace redquel::planner
