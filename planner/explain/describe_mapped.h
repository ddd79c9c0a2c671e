#pragma once

#include "planner/explain/explain.h"

namespace redquel::planner {

/// The commands of a read of a mapped table.
CommandText describe_mapped(const MappedScan& scan);
CommandText describe_mapped(const MappedJoin& join);
/// The script of a write to a mapped table.
CommandText describe_mapped(const PhysicalInsert& insert);
CommandText describe_mapped(const PhysicalUpdate& update);
CommandText describe_mapped(const PhysicalDelete& removal);

}  // namespace redquel::planner
