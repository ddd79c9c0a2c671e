#pragma once

#include <optional>

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// How the rows of an IndexRanks and their ranks are read in one round trip.
struct RankedRead {
  const TableRead* read;
  bool tells_columns;   // elements of the zset tell all columns: no row is read
  bool is_one_command;  // ZRANK or ZREVRANK tells the place of the only row, and no node looks at its score
};

/// Returns how; nullopt: the rows are not found by keys alone, or a column needs a command of its own.
std::optional<RankedRead> ranked_read(const IndexRanks& ranks);

}  // namespace redquel::planner
