#pragma once

#include "planner/explain/explain.h"

namespace redquel::planner {

/// The commands of a read of a mapped table.
CommandText describe_mapped(const MappedScan& scan);
CommandText describe_mapped(const MappedJoin& join);
/// The script of a write to a mapped table. `what`: INSERT, UPDATE or DELETE.
CommandText describe_mapped_write(const sql::TableDef& table, std::string_view what);

}  // namespace redquel::planner
