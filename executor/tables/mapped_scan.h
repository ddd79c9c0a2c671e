#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"

namespace redquel::executor {

/// Rows of a mapped table. A scan of the keyspace notices the client, or is refused (55000) where redquel.allow_keyspace_scan is off.
OperatorPtr make_mapped_scan(const planner::PhysicalNode&, const planner::MappedScan&, ExecutionContext&);
/// Joins each batch of the outer input with the rows of a mapped table whose keys it names.
OperatorPtr make_mapped_join(const planner::PhysicalNode&, const planner::MappedJoin&, ExecutionContext&);

}  // namespace redquel::executor
