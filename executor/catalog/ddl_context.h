#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "executor/redis/client.h"
#include "executor/runtime/session_state.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Modes of LOCK TABLE, numbered as parser::ast::LockTable has them.
enum class TableLock : std::int32_t { kShare = 5, kShareRowExclusive = 6, kAccessExclusive = 8 };

/// The environment of a definition statement. It reads the newest catalog itself, and again if another process was faster.
struct DdlContext {
  RedisClient& redis;
  RedisClient& bulk;  // for walks over all rows
  SessionState& session;
  RedisClient& home;  // where the list of databases lies
  int database = 0;   // the logical one of the session
  RedisAccess* access = nullptr;  // ways to the others; null where no statement of a client runs
  /// LOCK TABLE for the session's transaction. Empty where no statement of a client runs.
  std::function<asio::awaitable<void>(const sql::TableDef& table, TableLock mode)> lock_table = {};
  /// Fires the triggers for TRUNCATE of the tables, BEFORE or AFTER. Empty: the statement fires none.
  std::function<asio::awaitable<void>(std::vector<std::shared_ptr<const sql::TableDef>> tables, sql::TriggerDef::Timing timing)> fire_truncate = {};
  /// The text of the statement that changes definitions, with its search path, for a catalog that is kept as statements. It is noted with
  /// the first change.
  std::string statement = {};
};

}  // namespace redquel::executor
