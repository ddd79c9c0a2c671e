#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// An integer far from the ends of its type, where an overflow is to be told as it would be without increments.
bool is_far_from_bounds(const sql::Datum& value);

/// Returns the row in the form of the update's lookup by key.
sql::Batch looked_up(const planner::PhysicalUpdate& update, const std::vector<sql::Datum>& row);
/// Returns true if the row satisfies the lookup's condition besides the key.
bool is_selected(const planner::PhysicalUpdate& update, const sql::Batch& row, const sql::EvaluationContext& evaluation);

/// `UPDATE t SET n = n + c WHERE <key>` in a transaction, as a note in its buffer. Where queries of such transactions look at the row
/// (IncrementHabits), it is locked by the script that reads it. Null: not such a statement.
OperatorPtr make_buffered_increment(const planner::PhysicalNode&, const planner::PhysicalUpdate&, ExecutionContext&);

}  // namespace redquel::executor
