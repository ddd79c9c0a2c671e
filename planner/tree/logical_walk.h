#pragma once

#include <functional>
#include <set>
#include <vector>

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

// Walks over logical plans and their expressions, for the binder, the rules and the physical planner.

std::set<ColumnId> ids_of(const Logical&);
std::set<ColumnId> columns_in(const sql::Expression&);
bool is_subset(const std::set<ColumnId>& part, const std::set<ColumnId>& whole);
LogicalPtr make_logical(Logical::Node node, std::vector<LogicalColumn> columns);
/// `input` with conditions above it; `input` itself when there are none.
LogicalPtr filtered(LogicalPtr input, std::vector<sql::ExpressionPtr> conditions);
/// `input` as rows behind which those that it leaves out are hidden (LogicalFilter::barrier).
LogicalPtr behind_barrier(LogicalPtr input);
/// Returns true if the expression is the constant true.
bool is_true(const sql::Expression&);
/// Returns true if the expression reveals nothing of its columns but by its value (PostgreSQL's contain_leaked_vars).
bool is_leakproof(const sql::Expression&);
/// Returns a copy of the node (not of its inputs) with every expression changed. Keys of windows stay columns.
LogicalPtr map_expressions(const Logical&, const std::function<sql::ExpressionPtr(const sql::ExpressionPtr&)>& change);
/// Calls `visit` with every expression of the node (not of its inputs).
void visit_expressions(const Logical&, const std::function<void(const sql::ExpressionPtr&)>& visit);
/// Returns a copy of the node over other inputs.
LogicalPtr with_inputs(const Logical&, const std::vector<LogicalPtr>& inputs);
std::vector<LogicalPtr> inputs_of(const Logical&);
/// Returns true if the expression calls a function that asks Redis, or one in LANGUAGE sql whose body is run. Only projections, filters
/// and functions in FROM can wait for the answer.
bool waits(const sql::Expression&);
/// Returns true if the expression calls currval() or lastval().
bool asks_for_current_value(const sql::Expression&);

}  // namespace redquel::planner
