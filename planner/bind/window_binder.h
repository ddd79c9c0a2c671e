#pragma once

#include "planner/bind/grouping.h"
#include "planner/bind/ordering.h"

namespace redquel::planner {

/// The windows that the WINDOW clause and OVER name, bound after all other clauses, as PostgreSQL does (its errors come then). 42P20, 42704.
void bind_windows(BindState&, QueryLevel&);
/// The windows and their calls in terms of groups.
void rewrite_windows(QueryLevel&, GroupedInput&);
/// `input` with a LogicalSort and a LogicalWindow for every order that the pending window calls of the level need.
LogicalPtr place_windows(BindState&, const QueryLevel&, LogicalPtr input);

}  // namespace redquel::planner
