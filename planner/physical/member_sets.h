#pragma once

#include "planner/physical/physical_planner.h"

namespace redquel::planner {

// Joins and set operations between sets that an application keeps (mapped tables of layout set) as SINTER, SUNION and SDIFF. The plans
// given in are those of the inputs; nullopt: they are no such sets.

/// An intersection, union or difference of two expressions as one of all their operands where that means the same.
SetExpression combine_sets(SetExpression::Kind kind, SetExpression left, SetExpression right);

/// Inner, semi and anti joins of two sets over their members, and nothing else.
std::optional<Planned> join_member_sets(JoinKind kind, const sql::ExpressionPtr& condition, const Planned& left, const Planned& right);
/// UNION, INTERSECT and EXCEPT of members.
std::optional<PhysicalPlan> combine_member_sets(LogicalSetOperation::Kind kind, const PhysicalPlan& left, const PhysicalPlan& right);
/// Rows of GROUP BY over the members whose count is as large as an IN list of the sets (HAVING count(*) >= 2): members of all sets.
std::optional<Planned> groups_in_all_sets(const LogicalAggregate& aggregate, const std::vector<LogicalColumn>& columns, const sql::ExpressionPtr& having,
                                          const Planned& input);
/// DISTINCT members of several sets.
std::optional<PhysicalPlan> distinct_members(const PhysicalPlan& input);

}  // namespace redquel::planner
