#pragma once

#include "planner/explain/describe_commands.h"

namespace redquel::planner {

/// The commands of a read of a mapped table.
CommandText describe_mapped(const MappedScan& scan);
CommandText describe_mapped(const MappedJoin& join);
/// The command of a count by a zset.
CommandText describe_mapped(const MappedCount& count);
/// The key whose rows a scan reads by their members.
std::string mapped_zset(const PhysicalNode& scan);
/// Returns the member of the zset, as redis-cli needs it; <key> where the scan names several.
std::string mapped_member(const PhysicalNode& scan);
/// The script of a write to a mapped table.
CommandText describe_mapped(const PhysicalInsert& insert);
CommandText describe_mapped(const PhysicalUpdate& update);
CommandText describe_mapped(const PhysicalDelete& removal);

}  // namespace redquel::planner
