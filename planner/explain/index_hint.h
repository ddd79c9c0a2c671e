#pragma once

#include <optional>
#include <string>

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// Returns the CREATE INDEX statement that would let a later run of the scan's condition read fewer rows; nullopt: the condition compares no
/// column that has no index with values that are known when the statement starts.
std::optional<std::string> index_hint(const FullScan& scan);
/// Returns the CREATE INDEX statement for the zset of a value that would have the first rows of the scan's sets in their order; nullopt: the
/// scan wants no first rows, or its sets are more than values of columns.
std::optional<std::string> index_hint(const SetScan& scan);

}  // namespace redquel::planner
