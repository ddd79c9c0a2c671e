#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/engine/engine.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

class RedisEngine;

/// The body of a function in LANGUAGE sql, planned for calls with arguments of certain types.
struct FunctionPlan {
  std::shared_ptr<const sql::FunctionDef> function;  // with these types in place of polymorphic ones
  std::string catalog_version;
  sql::SessionSettings settings;
  std::vector<PreparedPtr> statements;
};
using FunctionPlanPtr = std::shared_ptr<const FunctionPlan>;
/// By oid, types and search path.
using FunctionPlans = std::map<std::string, FunctionPlanPtr>;

/// 0A000 for statements that no function may have, or none of its volatility.
void check_body_statement(const sql::FunctionDef& function, const parser::ast::Statement& statement);

/// Runs the body, statement after statement, each of which sees what the ones before it did. The rows of the last one, in the columns
/// that the invocation wants; of a function that gives one row at most that. 54001 where calls nest too deeply; errors of statements
/// get PostgreSQL's CONTEXT.
asio::awaitable<std::vector<sql::Batch>> run_sql_function(RedisEngine& engine, SessionState& session, FunctionInvocation invocation);

}  // namespace redquel::executor
