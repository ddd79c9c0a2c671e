#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <vector>

#include "executor/context/execution_context.h"
#include "planner/tree/logical_plan.h"
#include "sql/functions/function.h"
#include "sql/functions/deferred_calls.h"

namespace redquel::executor {

/// The rows of a function in LANGUAGE sql in FROM; `arguments` with those in front that say which (sql/functions/user_function_call.h).
boost::asio::awaitable<std::unique_ptr<sql::RowSource>> run_user_function(const planner::TableFunctionCall& call,
                                                                          const std::vector<sql::Type>& types,
                                                                          std::vector<sql::Datum> arguments, ExecutionContext& context);
/// The value that such a function gives for each row of a call.
boost::asio::awaitable<sql::UserFunctionCalls::Answer> run_user_function(const sql::UserFunctionCalls& call, ExecutionContext& context);

}  // namespace redquel::executor
