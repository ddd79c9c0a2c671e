#pragma once

#include "planner/bind/with.h"

namespace redquel::planner {

/// Binds a recursive query with SEARCH or CYCLE (manual 7.8.2.1, 7.8.2.2): as the same query with columns that say the order or the
/// path. Errors of what the clauses add have no position of their own. 42601, 42701 for wrong column names; 0A000 where the query is no
/// UNION of two SELECTs, the second of which reads the WITH query at its top level.
void bind_with_search_or_cycle(BindState&, QueryLevel* outer_level, WithItem&, const parser::ast::Select&);

}  // namespace redquel::planner
