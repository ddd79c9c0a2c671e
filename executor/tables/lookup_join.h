#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"

namespace redquel::executor {

/// Joins each batch of the outer input with a table's rows, which are looked up by key: one or two round trips a batch.
OperatorPtr make_lookup_join(const planner::PhysicalNode&, const planner::LookupJoin&, ExecutionContext&);
/// Like make_lookup_join() above, over an outer input of the caller's; the node is the one whose commands are counted.
OperatorPtr make_lookup_join(const planner::PhysicalNode&, const planner::LookupJoin&, OperatorPtr outer, ExecutionContext&);

}  // namespace redquel::executor
