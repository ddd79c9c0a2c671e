#pragma once

#include <cstdint>
#include <vector>

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// Returns true for `n + c` or `n - c` of the column at `position` of the source that reads no other column of the row.
bool adds_to(const sql::Expression& value, std::uint32_t position);
/// Returns the lookup by key that is the source of the update, in one bucket if the table lies in several; null: the source is another one.
const KeyLookup* row_lookup(const PhysicalUpdate& update);
/// Sets PhysicalUpdate::added and added_unread, from the rest of the node.
void find_added_columns(PhysicalUpdate& update);
/// Returns the value for PhysicalUpdate::may_write_unread; `added_unread` is set.
bool may_write_unread(const PhysicalUpdate& update);

}  // namespace redquel::planner
