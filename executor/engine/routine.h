#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/runtime/session_state.h"
#include "planner/bind/variable_scope.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

class RedisEngine;

/// The names of a routine that its statements see: its parameters, or the variables of its blocks.
struct RoutineScope {
  std::shared_ptr<const sql::FunctionDef> function;
  std::shared_ptr<const planner::VariableScope> variables;
};

/// One call of a routine. All that it refers to outlives the run.
struct RoutineCall {
  RedisEngine& engine;
  SessionState& session;
  const FunctionInvocation& invocation;
  bool may_end_transaction = false;  // COMMIT and ROLLBACK are allowed
};

/// A function, a procedure or the code of DO in one language, compiled for arguments of certain types. Calls share it. There is one class
/// for each language.
class Routine {
 public:
  virtual ~Routine() = default;

  /// Runs the body. Returns the rows of its result in the columns that the invocation wants; of a function that gives one row at most one,
  /// and none for NULL.
  virtual boost::asio::awaitable<std::vector<sql::Batch>> run(RoutineCall& call) const = 0;
  /// Returns true if the routine holds for these definitions and settings.
  bool holds(const sql::CatalogSnapshot& catalog, const sql::SessionSettings& settings) const {
    return catalog_version == catalog.version && compiled_for == settings;
  }

  std::shared_ptr<const sql::FunctionDef> function;  // with the call's types in place of polymorphic ones
  std::string catalog_version;
  sql::SessionSettings compiled_for;
};
using RoutinePtr = std::shared_ptr<const Routine>;
/// By oid, types and search path.
using RoutineCache = std::map<std::string, RoutinePtr>;

}  // namespace redquel::executor
