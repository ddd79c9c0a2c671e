#pragma once

#include <vector>

#include "executor/execution_context.h"
#include "executor/operators/operator.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// One run of a plan node and, within it, of its inputs. The plan and the context outlive the operator. With
/// `context.statistics` each node's rows, loops and time are noted there.
OperatorPtr make_operator(const planner::PhysicalNode& node, ExecutionContext& context);

/// The types of the node's columns.
std::vector<sql::Type> column_types(const planner::PhysicalNode& node);

}  // namespace redquel::executor
