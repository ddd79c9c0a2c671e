#pragma once

#include <cstdint>
#include <optional>

#include "planner/tree/logical_plan.h"
#include "planner/tree/physical_plan.h"

namespace redquel::planner {

// Groups of rows that sets hold, of which a HAVING clause wants those with all values of an IN list.

/// Returns the least count of `count = n`, `count >= n` or `count > n - 1`, over the id of the count; nullopt: it is another condition.
std::optional<std::int64_t> least_count(const sql::ExpressionPtr& having, ColumnId count);

/// Returns the conditions under which the sets are those of different values: none for constants, `NOT a = b` for values that a run knows. nullopt: two
/// values are the same, or cannot be compared.
std::optional<std::vector<sql::ExpressionPtr>> different_values(const SetExpression& sets);

/// Returns the plan below a filter with these conditions, which are checked once, before it reads anything.
PhysicalPlan checked_before(PhysicalPlan plan, std::vector<sql::ExpressionPtr> conditions);

/// Returns true if the aggregate's only call counts the rows of each group: count(*), or count(DISTINCT column) of the column whose values the sets
/// are, which no two rows of a group share.
bool counts_values(const LogicalAggregate& aggregate, std::int16_t column);

/// Returns true if the aggregate is count(DISTINCT column) without groups.
bool is_distinct_count(const LogicalAggregate& aggregate);

/// Returns true if the aggregate is count(*) without groups.
bool is_plain_count(const LogicalAggregate& aggregate);

}  // namespace redquel::planner
