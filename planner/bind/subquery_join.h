#pragma once

#include "planner/bind/query_level.h"

namespace redquel::planner {

/// `input` semi- or anti-joined with the subquery when the conjunct is [NOT] EXISTS (…) or … [NOT] IN (…) and the join
/// means the same; else nullptr.
LogicalPtr join_subquery(BindState&, const QueryLevel&, const LogicalPtr& input, const sql::ExpressionPtr& conjunct);

}  // namespace redquel::planner
