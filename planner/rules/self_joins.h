#pragma once

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// A table joined, semi-joined or anti-joined with itself by its primary key becomes one scan with the conditions of both sides; so do
/// INTERSECT, EXCEPT and UNION of queries that give rows of one table with their key.
LogicalPtr merge_self_joins(const LogicalPtr&);

}  // namespace redquel::planner
