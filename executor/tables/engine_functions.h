#pragma once

#include "executor/execution_context.h"
#include "executor/operators/operator.h"

namespace redquel::executor {

/// The functions in FROM that ask Redis (sql/functions/engine_functions.cc): redquel.check_indexes(table).
OperatorPtr make_engine_function(const planner::PhysicalFunctionScan&, ExecutionContext&);

}  // namespace redquel::executor
