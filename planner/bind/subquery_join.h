#pragma once

#include "planner/bind/query_level.h"

namespace redquel::planner {

/// `input` semi- or anti-joined with the subquery when the conjunct is [NOT] EXISTS (…) or … [NOT] IN (…) and the join
/// means the same; else nullptr.
LogicalPtr join_subquery(BindState&, const QueryLevel&, const LogicalPtr& input, const sql::ExpressionPtr& conjunct);

/// `input` with the rows for which the conjunct is true, when it compares an indexed column with uncorrelated scalar subqueries: these
/// are asked first, and their values find the rows; else nullptr.
LogicalPtr look_up_values(BindState&, const QueryLevel&, const LogicalPtr& input, const sql::ExpressionPtr& conjunct);

/// Moves the conditions that read the frame's slots out of the plan into `pulled`, where nothing between them and its top minds:
/// filters, inner joins, the left side of other joins.
LogicalPtr pull_up_conditions(const LogicalPtr& plan, const CorrelationFrame& frame, std::vector<sql::ExpressionPtr>& pulled);

}  // namespace redquel::planner
