#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "executor/redis/executor_counts.h"
#include "executor/redis/shared_connection.h"
#include "executor/runtime/clock.h"
#include "server/statistics/counts.h"
#include "server/statistics/statement_counts.h"
#include "sql/relation_counts.h"

namespace redquel::server {

enum class StatementKind : std::uint8_t { kSelect, kInsert, kUpdate, kDelete, kOther };
inline constexpr std::size_t kStatementKinds = 5;
std::string_view name_of(StatementKind kind);

/// The counts of one thread's sessions in one database.
struct DatabaseCounts {
  std::array<Count, kStatementKinds> done, failed;
  Count commits, rollbacks;
  std::array<Count, kStatementKinds> rows;
  Count deadlocks, sessions, abandoned, fatal, killed;
  Count session_nanoseconds, active_nanoseconds, idle_in_transaction_nanoseconds;
  sql::RelationCounts relations;
};

inline std::uint64_t steady_nanoseconds() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// The figures of one worker thread. It alone writes; any thread reads.
class ThreadCounts {
 public:
  /// Returns the figures of a database, which stay at their place. For the owner.
  DatabaseCounts& database(const std::string& name);
  /// Counts an error by the class of its SQLSTATE. For the owner.
  void note_error(std::string_view sqlstate);

  std::array<DurationHistogram, kStatementKinds> durations;
  Count serialization_failures, deadlocks, bytes_received, bytes_sent;
  StatementCounts statements;
  DurationHistogram event_loop_delay;

  /// Copies the figures of the thread's connections to Redis.
  void publish(const executor::ConnectionStatistics& redis);
  Count redis_connects, redis_round_trips, redis_commands, redis_bytes_sent, redis_bytes_received, redis_writes_held;
  executor::ExecutorCounts executor;

  /// Nanoseconds of the steady clock: the event loop's last turn, and Redis's last answer to a ping; 0: none yet.
  Count last_turn, redis_answered;

  /// Returns µs since 2000-01-01 UTC of a moment of the steady clock, without another reading of a clock. For the owner.
  std::int64_t microseconds_of(std::uint64_t nanoseconds) const { return clock_difference_ + static_cast<std::int64_t>(nanoseconds / 1000); }
  /// Follows steps of the system's clock. The owner calls it a few times in a second.
  void compare_clocks() { clock_difference_ = clock_difference(); }

  /// Calls `visit` with each database's name and figures.
  template <class Visit>
  void visit_databases(const Visit& visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, counts] : databases_) visit(name, *counts);
  }
  std::map<std::string, std::uint64_t> errors() const {
    const std::lock_guard lock(mutex_);
    return errors_;
  }

 private:
  static std::int64_t clock_difference() { return executor::now_microseconds() - static_cast<std::int64_t>(steady_nanoseconds() / 1000); }

  std::int64_t clock_difference_ = clock_difference();
  mutable std::mutex mutex_;  // of what follows; the owner takes it for a new database and for an error
  std::map<std::string, std::unique_ptr<DatabaseCounts>> databases_;
  std::map<std::string, std::uint64_t> errors_;
};

}  // namespace redquel::server
