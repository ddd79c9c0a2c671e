#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "executor/tables/read_scripts.h"
#include "planner/access/ordered_source.h"
#include "planner/tree/physical_plan.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// The ends of a range of an ordered column as ZRANGE takes them, `by` set; everything where there are none. At least the values
/// between the bounds lie there: they are checked again. nullopt: the range is empty.
std::optional<ZsetRange> evaluate_range(const sql::TableDef& table, const planner::OrderedSource& source, std::int16_t column,
                                        const std::optional<planner::RangeBound>& lower, const std::optional<planner::RangeBound>& upper,
                                        const sql::EvaluationContext& context);

/// Returns true if a score, as Redis prints it, is between two ends, in ZCOUNT's form.
bool is_between(std::string_view score, const std::string& low, const std::string& high);

}  // namespace redquel::executor
