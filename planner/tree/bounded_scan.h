#pragma once

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// Returns false if the node is a scan that reads its table without a key start, a goal or a range with two ends. True for other nodes.
bool is_bounded_scan(const PhysicalNode& node);

}  // namespace redquel::planner
