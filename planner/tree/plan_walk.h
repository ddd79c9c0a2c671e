#pragma once

#include <functional>

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// Returns true if the test holds for each node of the plan, and of the plans that may run instead of its nodes. Tests
/// each node once: the forms of a join share its inputs, so a walk from form to form would take 3^n steps for n joins.
/// Throws 57014 if the statement is cancelled.
bool all_nodes(const PhysicalNode& plan, const std::function<bool(const PhysicalNode&)>& test);

}  // namespace redquel::planner
