#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <functional>
#include <memory>

#include "executor/redis/client.h"
#include "executor/storage/write_unit.h"

namespace redquel::executor {

/// New rows for a place in Redis that is not visible yet: of a table that its transaction has made, or that is being written anew. They
/// need no script: replies of plain commands show which keys and unique values existed before. After a violation the place stays as it is,
/// for its owner to clear. Units are on their way while the next one is made. Each is sent when Redis has answered that none of its keys
/// is another program's.
class UnseenRows {
 public:
  /// `counters` may be null; it outlives this.
  explicit UnseenRows(RedisClient& client, ExecutionCounters* counters = nullptr);
  ~UnseenRows();
  UnseenRows(const UnseenRows&) = delete;
  UnseenRows& operator=(const UnseenRows&) = delete;

  /// Expiry needs the write script.
  static bool may_take(const sql::TableDef& table) { return !table.rows_expire(); }

  /// Sends a unit of inserts without ON CONFLICT; `written` (may be empty) is called once they are in Redis, in the order of the calls. Throws for a
  /// unit before: RowError 23505 and what Redis says.
  using Written = std::function<void(const WriteUnit&)>;
  asio::awaitable<void> write(std::unique_ptr<WriteUnit> unit, Written written);
  /// Everything is in Redis. Throws as `write`.
  asio::awaitable<void> flush();
  /// Waits until no unit is on its way, successful or not.
  asio::awaitable<void> settle();

 private:
  struct Sent;
  static CommandBatch commands(Sent& sent);
  asio::awaitable<void> send_looked();
  static void check(const Sent& sent, const Replies& replies);
  asio::awaitable<void> finish_first();

  RedisClient& client_;
  ExecutionCounters* counters_;
  std::unique_ptr<Sent> looked_;  // whose keys are looked at
  std::deque<std::unique_ptr<Sent>> sent_;
};

}  // namespace redquel::executor
