#pragma once

#include "executor/execution_context.h"
#include "executor/operators/operator.h"
#include "planner/physical_plan.h"

namespace redquel::executor {

/// An integer far from the ends of its type, where an overflow is to be told as it would be without increments.
bool is_far_from_bounds(const sql::Datum& value);

/// `UPDATE t SET n = n + c WHERE <key>` that stands for itself: the row is not read, the write script adds to what it finds. Where it
/// finds no row, NULL or a sum beyond the type, WriteConflict lets the statement run again as others do. Null: not such a statement.
OperatorPtr make_unread_increment(const planner::PhysicalNode&, const planner::PhysicalUpdate&, ExecutionContext&);

}  // namespace redquel::executor
