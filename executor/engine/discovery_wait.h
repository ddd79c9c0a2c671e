#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "executor/redis/own_keyspace.h"
#include "executor/runtime/session_state.h"
#include "sql/error.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The wait of one statement for a table that the discovery of `redquel look` may still find.
class DiscoveryWait {
 public:
  /// `own`: null: there is no discovery to wait for.
  DiscoveryWait(OwnKeyspace* own, const SessionState& session) : own_(own), session_(session) {}

  /// Takes the error of planning the statement.
  void note_error(const sql::SqlError& error);
  /// If the error says that a table or schema is missing: waits while discovery runs and has made nothing since this version of the
  /// definitions, at most as long as `redquel.discovery_wait` says in all. A NOTICE names what is missing. Returns false if planning
  /// again would change nothing.
  asio::awaitable<bool> wait(std::string_view version);

 private:
  OwnKeyspace* own_;
  const SessionState& session_;
  std::optional<std::string> missing_;  // message of the error
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

}  // namespace redquel::executor
