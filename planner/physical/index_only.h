#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/access/index_condition.h"
#include "planner/tree/physical_plan.h"

namespace redquel::planner {

// Reads that need no row, because the elements of an index have all requested columns. Rows are not checked then: only for indexes that
// redquel keeps, of tables whose rows do not expire.

/// Returns true if the elements of the zset that orders `ordered` (0: of all rows) have these columns of a row: parts of its key, and the
/// score.
bool tells_columns(const sql::TableDef& table, std::span<const std::int16_t> numbers, std::int16_t ordered);

/// The values of `column`, the only one that is read, where sets have them and the conditions are about it alone; `condition` is what
/// `conditions` mean, over the scan's columns. Without table, condition and fallback. `ordered`: rows are wanted in an order, which a zset
/// of the column might have. nullopt: rows or a walk along a zset are better, or sets do not know the values.
std::optional<IndexValues> index_values(const sql::TableDef& table, std::int16_t column, const Condition& condition,
                                        const std::vector<sql::ExpressionPtr>& conditions, bool ordered);

}  // namespace redquel::planner
