#pragma once

#include <map>

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// What was known of tables a while ago, by oid.
using TableSizes = std::map<sql::Oid, TableSize>;

/// Tables with fewer rows are read so fast that no order of joins is worth a thought: they are joined as they are written.
inline constexpr double kSmallTable = 1000;

/// The plan whose scans know how large their tables are; itself where no table is large.
LogicalPtr with_sizes(const LogicalPtr& plan, const TableSizes& sizes);

}  // namespace redquel::planner
