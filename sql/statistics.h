#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/connection_hooks.h"
#include "sql/progress.h"
#include "sql/types/type.h"

namespace redquel::sql {

// Times are µs since 2000-01-01 UTC, durations milliseconds, as PostgreSQL's views have them.

/// The wait_event of a commit that waits for replicas; its wait_event_type is IPC.
inline constexpr std::string_view kReplicationWait = "SyncRep";

/// A session of this process, as pg_stat_activity and pg_stat_ssl show it.
struct SessionStatistics {
  std::int32_t process_id = 0;
  Oid role = 0;
  std::string role_name, database, application_name;
  std::string client_address;  // empty: a unix socket
  std::int32_t client_port = -1;
  std::int64_t started = 0, transaction_started = 0, statement_started = 0, state_changed = 0;  // 0: none
  std::string_view state;
  bool waits_for_client = false;
  std::string_view awaited_event;  // wait_event: of a lock "transactionid", "relation", "advisory"; kReplicationWait; empty: none
  ProgressFigures progress = {};
  std::int64_t query_id = 0;  // 0: none
  std::string query;
  std::optional<EncryptionFacts> encryption;
};

/// The counts of the sessions of one database since the process started.
struct DatabaseStatistics {
  std::string database;
  std::uint64_t commits = 0, rollbacks = 0, returned = 0, inserted = 0, updated = 0, deleted = 0, deadlocks = 0;
  std::uint64_t sessions = 0, abandoned = 0, fatal = 0, killed = 0;
  double session_time = 0, active_time = 0, idle_in_transaction_time = 0;
};

/// The counts of statements on the tables and indexes of one database since the process started.
struct RelationStatistics {
  struct Table {
    std::uint64_t whole_scans = 0, rows_of_whole_scans = 0, index_scans = 0, rows_of_index_scans = 0, inserted = 0, updated = 0, deleted = 0;
  };
  struct Index {
    std::uint64_t scans = 0, rows = 0;
  };
  std::map<Oid, Table> tables;
  std::map<Oid, Index> indexes;
};

/// The runs of statements that differ in constants only, as pg_stat_statements shows them.
struct StatementStatistics {
  Oid role = 0;
  std::string database;
  std::int64_t query_id = 0;
  std::string text;
  std::uint64_t calls = 0, rows = 0;
  std::uint64_t round_trips = 0, commands = 0;  // with Redis
  double total_time = 0, least_time = 0, most_time = 0, mean_time = 0, squares = 0;  // squares: the sum of squared differences from the mean
};

/// The figures of this process, for system tables.
struct StatisticsHooks {
  std::vector<SessionStatistics> (*sessions)() = nullptr;
  std::vector<DatabaseStatistics> (*databases)() = nullptr;
  RelationStatistics (*relations)(std::string_view database) = nullptr;
  std::vector<StatementStatistics> (*statements)() = nullptr;
  /// Forgets statements: of a role, a database, a query; 0: of all.
  void (*reset_statements)(Oid role, Oid database, std::int64_t query_id) = nullptr;
  /// Statements that were forgotten for want of room.
  std::uint64_t (*forgotten_statements)() = nullptr;
  std::int64_t (*statements_since)() = nullptr;
  /// A session of this thread waits for a lock for longer than deadlock_timeout, or has got it (`is_over`).
  void (*note_lock_wait)(std::int32_t process_id, std::int64_t milliseconds, bool is_over) = nullptr;
  /// A session of this thread waits for a lock from now on. `event`: as in SessionStatistics, of static storage; empty: no longer.
  void (*show_wait)(std::int32_t process_id, std::string_view event) = nullptr;
};

/// Those of this process; null pointers until the server has named its own.
const StatisticsHooks& statistics_hooks();
/// Before any statement runs.
void set_statistics_hooks(const StatisticsHooks& hooks);

}  // namespace redquel::sql
