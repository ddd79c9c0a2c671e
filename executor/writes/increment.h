#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// An integer far from the ends of its type, where an overflow is to be told as it would be without increments.
bool is_far_from_bounds(const sql::Datum& value);

/// What the update's lookup by key would give of a row.
sql::Batch looked_up(const planner::PhysicalUpdate& update, const std::vector<sql::Datum>& row);
/// Does the row pass the condition that the lookup has besides the key?
bool is_selected(const planner::PhysicalUpdate& update, const sql::Batch& row, const sql::EvaluationContext& evaluation);

/// `UPDATE t SET n = n + c WHERE <key>` in a transaction, as a note in its buffer. Where queries of such transactions look at the row
/// (IncrementHabits), it is locked by the script that reads it. Null: not such a statement.
OperatorPtr make_buffered_increment(const planner::PhysicalNode&, const planner::PhysicalUpdate&, ExecutionContext&);

}  // namespace redquel::executor
