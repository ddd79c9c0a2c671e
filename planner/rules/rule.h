#pragma once

#include <span>

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// A rewrite of the logical plan: a pure function from tree to tree that keeps the columns' ids and the rows.
struct Rule {
  const char* name;
  LogicalPtr (*rewrite)(const LogicalPtr&);
};

/// All rules, in the order in which they run.
std::span<const Rule> rewrite_rules();
LogicalPtr rewrite(LogicalPtr plan);

/// Computes constant expressions. Removes conditions that are always true, and inputs that give no rows: behind a condition that is
/// never true, joined with no rows, or one side of UNION ALL.
LogicalPtr fold_constants(const LogicalPtr&);
/// Conditions move towards the tables: through projections, joins, groups and set operations; cross joins become inner joins;
/// outer joins whose extra rows are thrown away anyway become inner joins.
LogicalPtr push_down_filters(const LogicalPtr&);
/// Chains of inner joins are put into an order without needless cross products.
LogicalPtr order_joins(const LogicalPtr&);
/// Removes unused columns, so that they are not fetched or computed.
LogicalPtr prune_columns(const LogicalPtr&);

}  // namespace redquel::planner
