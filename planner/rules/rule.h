#pragma once

#include <functional>
#include <set>
#include <span>

#include "planner/logical_plan.h"

namespace redquel::planner {

/// A rewrite of the logical plan: a pure function from tree to tree that keeps the columns' ids and the rows.
struct Rule {
  const char* name;
  LogicalPtr (*rewrite)(const LogicalPtr&);
};

/// All rules, in the order in which they run.
std::span<const Rule> rewrite_rules();
LogicalPtr rewrite(LogicalPtr plan);

/// What can be computed now is; conditions that are always true go, and what is behind one that never is, too.
LogicalPtr fold_constants(const LogicalPtr&);
/// Conditions move towards the tables: through projections, joins, groups and set operations; cross joins become inner joins;
/// outer joins whose extra rows are thrown away anyway become inner joins.
LogicalPtr push_down_filters(const LogicalPtr&);
/// Chains of inner joins are put into an order without needless cross products.
LogicalPtr order_joins(const LogicalPtr&);
/// Columns that nobody reads are not fetched or computed.
LogicalPtr prune_columns(const LogicalPtr&);

// ---- shared by rules --------------------------------------------------------------------------------------------------------

std::set<ColumnId> ids_of(const Logical&);
std::set<ColumnId> columns_in(const sql::Expression&);
bool is_subset(const std::set<ColumnId>& part, const std::set<ColumnId>& whole);
LogicalPtr make_logical(Logical::Node node, std::vector<LogicalColumn> columns);
/// `input` with conditions above it; `input` itself when there are none.
LogicalPtr filtered(LogicalPtr input, std::vector<sql::ExpressionPtr> conditions);
/// A copy of the node (not of its inputs) with every expression changed.
LogicalPtr map_expressions(const Logical&, const std::function<sql::ExpressionPtr(const sql::ExpressionPtr&)>& change);
/// The same node over other inputs.
LogicalPtr with_inputs(const Logical&, const std::vector<LogicalPtr>& inputs);
std::vector<LogicalPtr> inputs_of(const Logical&);
/// Does it call a function that asks Redis, or one in LANGUAGE sql whose body is run? Of what a query is made of, projections, filters
/// and functions in FROM can wait for the answer.
bool waits(const sql::Expression&);
/// Does it ask what a sequence has given last: currval(), lastval()?
bool asks_for_current_value(const sql::Expression&);

}  // namespace redquel::planner
