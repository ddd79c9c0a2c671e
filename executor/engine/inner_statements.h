#pragma once

#include <boost/asio/this_coro.hpp>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/engine/redis_engine.h"
#include "parser/parse.h"

namespace redquel::executor {

/// Runs one of the statements that another one stands for to its end; its rows are dropped. Its command tag. `parameters` are in the
/// types of `types`.
inline boost::asio::awaitable<std::string> run_inner_statement(RedisEngine& engine, SessionState& session, std::string text,
                                                               std::vector<sql::Type> types = {}, std::vector<sql::Datum> parameters = {}) {
  auto statement = parser::parse_statement(text);
  DeclaredParameters declared;
  if (!types.empty()) declared = std::move(types);
  PreparedPtr prepared = co_await engine.prepare(std::move(text), std::move(statement), std::move(declared), session);
  const std::unique_ptr<Execution> run = engine.execute(std::move(prepared), std::move(parameters), session);
  while (co_await run->next()) continue;
  co_return run->command_tag();
}

/// `work`, not started yet: all of it or nothing, in the session's open transaction or, without one, in one of its own.
inline boost::asio::awaitable<void> in_transaction(RedisEngine& engine, SessionState& session, boost::asio::awaitable<void> work) {
  if (session.transaction) {
    co_await std::move(work);
    co_return;
  }
  engine.begin(session);
  std::exception_ptr failure;
  try {
    co_await std::move(work);
    co_await engine.commit(session);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    co_await boost::asio::this_coro::reset_cancellation_state();  // nothing could be awaited after a cancellation
    co_await engine.roll_back(session);
    std::rethrow_exception(failure);
  }
}

}  // namespace redquel::executor
