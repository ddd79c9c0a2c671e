#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"

namespace redquel::executor {

/// The functions in FROM that ask Redis (sql/functions/engine_functions.cc): redquel.check_indexes(table).
OperatorPtr make_engine_function(const planner::PhysicalFunctionScan&, ExecutionContext&);

}  // namespace redquel::executor
