#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/engine/redis_engine.h"
#include "executor/runtime/failure.h"
#include "parser/parse.h"

namespace redquel::executor {

/// Runs a statement to its end; its rows are dropped. Its command tag.
inline boost::asio::awaitable<std::string> run_to_end(std::unique_ptr<Execution> run) {
  while (true) {
    const std::optional<sql::Batch> rows = co_await run->next();
    if (!rows) break;
  }
  co_return run->command_tag();
}

/// Runs one of the statements that another one stands for to its end; its rows are dropped. Its command tag. `parameters` are in the
/// types of `types`.
inline boost::asio::awaitable<std::string> run_inner_statement(RedisEngine& engine, SessionState& session, std::string text,
                                                               std::vector<sql::Type> types = {}, std::vector<sql::Datum> parameters = {}) {
  auto statement = parser::parse_statement(text);
  DeclaredParameters declared;
  if (!types.empty()) declared = std::move(types);
  PreparedPtr prepared = co_await engine.prepare(std::move(text), std::move(statement), std::move(declared), session);
  std::unique_ptr<Execution> run = engine.execute(std::move(prepared), std::move(parameters), session);
  co_return co_await run_to_end(std::move(run));
}

/// `work`, not started yet: all of it or nothing, in the session's open transaction or, without one, in one of its own.
inline boost::asio::awaitable<void> in_transaction(RedisEngine& engine, SessionState& session, boost::asio::awaitable<void> work) {
  if (session.transaction) {
    co_await std::move(work);
    co_return;
  }
  engine.begin(session);
  const auto run = [&]() -> boost::asio::awaitable<void> {
    co_await std::move(work);
    co_await engine.commit(session);
  };
  co_await run_or_undo(run(), [&] { return engine.roll_back(session); });
}

}  // namespace redquel::executor
