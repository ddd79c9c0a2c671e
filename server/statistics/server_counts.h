#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/statistics/activity_slot.h"
#include "server/statistics/thread_counts.h"
#include "sql/memory_account.h"
#include "sql/statistics.h"

namespace redquel::server {

/// The facts about one session for other threads.
struct ListedSession {
  sql::SessionStatistics facts;  // under the lock of ServerCounts; what changes with each statement is in `activity`
  ActivitySlot activity;         // read and written without it, as the following
  sql::Progress progress;
  std::atomic<const char*> awaited_event = nullptr;  // name of the wait event, of static storage; null: none
};

/// The reasons why connections ended before their login was complete.
struct ConnectionCounts {
  std::atomic<std::uint64_t> accepted = 0, full = 0, failed_authentications = 0, failed_tls = 0, timed_out = 0;
};

/// The figures of the whole process: those of its threads, and its sessions.
class ServerCounts {
 public:
  explicit ServerCounts(std::size_t threads);

  ThreadCounts& thread(std::size_t index) { return *threads_[index]; }
  const std::vector<std::unique_ptr<ThreadCounts>>& threads() const { return threads_; }
  ConnectionCounts connections;
  std::atomic<bool> is_accepting = false, is_draining = false;
  /// Bytes; 0: not known yet, or without a limit.
  std::atomic<std::uint64_t> redis_memory_used = 0, redis_memory_most = 0;
  std::atomic<std::int64_t> redis_replicas = -1;  // -1: not known
  /// Bytes by sql::MemoryPart, what the process holds beyond them, and limits.memory.
  std::array<std::atomic<std::uint64_t>, sql::kMemoryParts> memory_parts{};
  std::atomic<std::uint64_t> memory_unaccounted = 0, memory_limit = 0;
  /// Workers ping Redis, because readiness is asked for.
  bool pings_redis = false;

  /// A login has ended. `method`: as in pg_hba.conf, or `none` if no rule allows the connection.
  void note_authentication(std::string_view method, bool is_good);
  std::map<std::string, std::array<std::uint64_t, 2>> authentications() const;  // by method: failed, good

  std::shared_ptr<ListedSession> list(sql::SessionStatistics facts);
  void unlist(std::int32_t process_id);
  void rename(ListedSession& session, const std::string& application_name);

  std::vector<sql::SessionStatistics> sessions() const;
  std::vector<sql::DatabaseStatistics> databases() const;
  sql::RelationStatistics relations(std::string_view database) const;
  std::vector<sql::StatementStatistics> statements() const;
  void forget_statements(sql::Oid role, sql::Oid database, std::int64_t query_id);
  std::uint64_t forgotten_statements() const;
  std::int64_t statements_since() const { return statements_since_; }
  /// µs since 2000-01-01 UTC.
  std::int64_t started() const { return started_; }

 private:
  std::vector<std::unique_ptr<ThreadCounts>> threads_;
  mutable std::mutex mutex_;
  std::map<std::int32_t, std::shared_ptr<ListedSession>> sessions_;  // by process id
  std::map<std::string, std::array<std::uint64_t, 2>> authentications_;
  std::int64_t started_;
  std::atomic<std::int64_t> statements_since_;
};

}  // namespace redquel::server
