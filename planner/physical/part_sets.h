#pragma once

#include <functional>

#include "planner/physical/physical_planner.h"

namespace redquel::planner {

// Joins and set operations between values of one index over a part of its table's primary key, compared by the other part: members of its sets
// are just that (sql/catalog/member_form.h), so Redis combines them by SINTER, SUNION and SDIFF. The plans given in are those of the
// inputs; `fallback` gives the plan without this, for sets that are too large. nullopt: the inputs are no such sets.

/// Inner, semi and anti joins over all columns of the other part, and nothing else.
std::optional<Planned> join_part_sets(JoinKind kind, const sql::ExpressionPtr& condition, const Planned& left, const Planned& right,
                                      const std::function<Planned()>& fallback);
/// UNION, INTERSECT and EXCEPT of the other part.
std::optional<PhysicalPlan> combine_part_sets(LogicalSetOperation::Kind kind, const PhysicalPlan& left, const PhysicalPlan& right,
                                              const std::function<PhysicalPlan()>& fallback);
/// DISTINCT values of the other part.
std::optional<PhysicalPlan> distinct_parts(const PhysicalPlan& input, const std::function<PhysicalPlan()>& fallback);
/// Rows without columns for count(*), of a plan that reads such sets: as many as the sets together have members.
std::optional<PhysicalPlan> number_of_parts(const PhysicalPlan& input);
/// Rows of GROUP BY over the other part whose count is as large as an IN list of the index's values (HAVING count(*) >= 2): those that
/// have all of them. `input` is the plan of the groups' rows, `having` the condition over `aggregate`'s columns, which are `columns`.
std::optional<Planned> groups_with_all_values(const LogicalAggregate& aggregate, const std::vector<LogicalColumn>& columns,
                                              const sql::ExpressionPtr& having, const Planned& input, const std::function<Planned()>& fallback);

}  // namespace redquel::planner
