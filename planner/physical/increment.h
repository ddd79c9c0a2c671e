#pragma once

#include <cstdint>
#include <vector>

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// Is it `n + c` or `n - c` of the column at `position` of the source, and nothing else of the row?
bool adds_to(const sql::Expression& value, std::uint32_t position);
/// What PhysicalUpdate::added says of the rest of the node.
std::vector<std::size_t> added_columns(const PhysicalUpdate& update);
/// What PhysicalUpdate::may_write_unread says; `added` is set.
bool may_write_unread(const PhysicalUpdate& update);

}  // namespace redquel::planner
