#pragma once

#include <optional>

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// The way to read the rows of an IndexRanks and their ranks in one round trip.
struct RankedRead {
  const TableRead* read;
  bool tells_columns;   // elements of the zset have all columns: no row is read
  bool is_one_command;  // ZRANK or ZREVRANK gives the place of the only row, and no node reads its score
};

/// Returns how; nullopt: the rows are not found by keys alone, or a column needs a command of its own.
std::optional<RankedRead> ranked_read(const IndexRanks& ranks);

}  // namespace redquel::planner
