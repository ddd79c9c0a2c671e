#pragma once

#include <optional>
#include <vector>

#include "planner/physical/physical_planner.h"

namespace redquel::planner {

/// One zset of a mapped table of layout zset whose members all are rows, and a range of its scores.
struct PlainZset {
  std::int16_t score = 0;                // number of the column
  std::vector<MappedScan::Fixed> fixed;  // the slots of the key, one value each
  std::optional<RangeBound> lower, upper;
};

/// Returns the zset if the conditions name its key and at most a range of its scores, and nothing else.
std::optional<PlainZset> plain_zset(const LogicalScan& scan, const std::vector<LogicalColumn>& columns, const std::vector<sql::ExpressionPtr>& conditions);

}  // namespace redquel::planner
