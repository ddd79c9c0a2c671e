#pragma once

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// Nodes that change or lock rows of redquel's own tables remember their source as it is before the other rules
/// (planner/recheck.h).
LogicalPtr keep_sources(const LogicalPtr&);

}  // namespace redquel::planner
