#pragma once

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// Sorts the conditions of each filter and join by the cost of their evaluation, as PostgreSQL does: a cheap condition may keep a row from
/// one that raises an error. Conditions of equal cost stay in the order in which they are written.
LogicalPtr order_conditions(const LogicalPtr&);

}  // namespace redquel::planner
