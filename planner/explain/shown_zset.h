#pragma once

#include <cstdint>
#include <string>

#include "planner/access/ordered_source.h"
#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// Returns the zset that a walk or a count reads, with its key as EXPLAIN prints it.
OrderedSource shown_source(const sql::TableDef& table, const LeadingValues& leading, std::int16_t column);
OrderedSource walked_source(const OrderedScan& scan);
/// Returns the key of the rows whose column is NULL.
std::string null_rows_key(const OrderedScan& scan);

}  // namespace redquel::planner
