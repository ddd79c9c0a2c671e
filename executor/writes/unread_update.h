#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// `UPDATE t SET a = c, … WHERE <key>` outside of a block, if the new values do not depend on the row, or `SET n = n + c, …`:
/// one script reads, verifies and writes. What it does not know how to do (a sum beyond the type) is done as other statements do it,
/// after WriteConflict. Null: not such a statement.
OperatorPtr make_unread_update(const planner::PhysicalNode&, const planner::PhysicalUpdate&, ExecutionContext&);

}  // namespace redquel::executor
