#pragma once

#include <span>

#include "planner/bind/query_level.h"

namespace redquel::planner {

/// `input` with a LogicalApply for every pending subquery of the level that the expressions (null ones are skipped)
/// refer to and that `input` does not give yet.
LogicalPtr place_subqueries(BindState&, const QueryLevel&, LogicalPtr input,
                            std::span<const sql::ExpressionPtr> expressions);
/// Returns true if the expression refers to a pending subquery of the level.
bool needs_subquery(const QueryLevel&, const sql::Expression&);

/// `input` filtered by a WHERE or HAVING condition. [NOT] EXISTS and IN among its conjuncts become semi- and anti-joins
/// where that keeps the meaning: subqueries whose outer columns stand in conditions only, and NOT IN without NULLs.
LogicalPtr place_condition(BindState&, const QueryLevel&, LogicalPtr input, const sql::ExpressionPtr& condition);

}  // namespace redquel::planner
