#pragma once

#include "executor/engine/routine.h"

namespace redquel::executor {

/// Runs a function or procedure with the rights and the settings that its definition says, compiled for the types of its arguments. 54001
/// where calls nest too deeply; 42501 without EXECUTE.
boost::asio::awaitable<std::vector<sql::Batch>> run_routine(RedisEngine& engine, SessionState& session, FunctionInvocation invocation);

/// The transaction and the known types of a statement that calls a routine. The session has them again when it ends.
class CallerState {
 public:
  explicit CallerState(SessionState& session);
  ~CallerState();
  CallerState(const CallerState&) = delete;
  CallerState& operator=(const CallerState&) = delete;

 private:
  SessionState& session_;
  std::shared_ptr<Transaction> transaction_;
  sql::UserTypesPtr types_;
  std::size_t ended_;
};

/// While it lives, one more call runs within the session's calls. 54001 if they are too many.
class RoutineDepth {
 public:
  explicit RoutineDepth(SessionState& session);
  ~RoutineDepth() { --session_.function_depth; }
  RoutineDepth(const RoutineDepth&) = delete;
  RoutineDepth& operator=(const RoutineDepth&) = delete;

 private:
  SessionState& session_;
};

}  // namespace redquel::executor
