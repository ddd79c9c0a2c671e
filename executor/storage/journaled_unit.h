#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/exclusive_tables.h"
#include "executor/storage/units_in_flight.h"
#include "executor/storage/write_unit.h"

namespace redquel::executor {

/// Row changes that are too many for one script, and still one unit. Their tables are made exclusive, chunk after chunk is written
/// together with its undo, and one script at the end releases the tables; a commit over the buckets if they lie in several. No other session sees a part. After an error, a cancelled
/// statement, a killed process or an expired lease, the chunks are undone before the tables are released.
///
/// Lives on one io_context, with its RedisClient, which outlives it and the undo that it may leave behind.
class JournaledUnit {
 public:
  using TablePtr = std::shared_ptr<const sql::TableDef>;

  /// `database`: the client's logical one.
  JournaledUnit(asio::any_io_executor executor, RedisClient& client, int database);
  /// If neither `commit` nor `undo` has ended the unit, it is undone after this returns.
  ~JournaledUnit();
  JournaledUnit(const JournaledUnit&) = delete;
  JournaledUnit& operator=(const JournaledUnit&) = delete;

  /// Waits while another unit has the tables. False: a definition is not the given one any more. 55P03 past the deadline.
  asio::awaitable<bool> begin(std::vector<TablePtr> tables, LockDeadline deadline = {});
  /// Returns the value of `redquel:version` while the unit lasts, if no definitions change.
  const std::string& token() const;

  /// Returns the step for the WriteUnit of a chunk. `tag`: of the bucket of its rows; a chunk has rows of one bucket.
  JournalStep step(std::string_view tag) const;
  /// Sends a chunk; `applied` is called once it is in Redis, in the order of the calls. Several chunks are on their way at a time; waits
  /// while they are many. Throws for a chunk before: RowError 23505 and what Redis says; WriteConflict; LockedByOther; 40001 for lost tables and locks.
  asio::awaitable<void> write(std::shared_ptr<WriteUnit> chunk, UnitsInFlight::Written applied);
  /// All chunks are in Redis. Throws as `write`.
  asio::awaitable<void> flush();

  /// Flushes and gives the tables free. 40001: they were lost, and everything is undone.
  asio::awaitable<void> commit();
  asio::awaitable<void> undo();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace redquel::executor
