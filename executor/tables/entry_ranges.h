#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/tree/physical_plan.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// Entries of a stream between two ids, as XRANGE takes them.
struct EntryRange {
  std::string first = "-", last = "+";
  bool operator==(const EntryRange&) const = default;
};

/// Returns ranges that hold all entries between the bounds of a scan of layout stream. No entry is in two of them. nullopt: the scan has no
/// bounds, or their texts are no ids of our time.
std::optional<std::vector<EntryRange>> entry_ranges(const planner::MappedScan& scan, const sql::EvaluationContext& context);

}  // namespace redquel::executor
