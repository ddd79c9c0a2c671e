#pragma once

#include "planner/explain/describe_commands.h"

namespace redquel::planner {

/// The commands by which a node changes its table's keys: those of one row, which scripts repeat for all.
CommandText describe_write(const PhysicalInsert& insert);
CommandText describe_write(const PhysicalUpdate& update);
CommandText describe_write(const PhysicalDelete& removal);
CommandText describe_write(const PhysicalMerge& merge);

}  // namespace redquel::planner
