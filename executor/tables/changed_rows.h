#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// A read of Redis, then the rows that the statement's transaction has changed and that satisfy the read's condition. `source` itself
/// where the transaction has changed nothing of the table. The plan must be one that `planner::reads_changed_tables_plainly` allows.
OperatorPtr with_changed_rows(OperatorPtr source, const planner::TableRead& read, ExecutionContext& context);
/// Like with_changed_rows() above, for the rows with the keys that are looked up.
OperatorPtr with_changed_rows(OperatorPtr source, const planner::KeyLookup& lookup, ExecutionContext& context);

}  // namespace redquel::executor
