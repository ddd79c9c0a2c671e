#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "executor/redis/client.h"
#include "server/statistics/server_counts.h"
#include "server/transaction_block.h"

namespace redquel::server {

/// Counts what one session does, and shows it to other threads. Lives on the session's thread.
class SessionMeter {
 public:
  SessionMeter(ServerCounts& server, ThreadCounts& thread) : server_(server), thread_(thread) {}
  ~SessionMeter();
  SessionMeter(const SessionMeter&) = delete;
  SessionMeter& operator=(const SessionMeter&) = delete;

  /// The client has logged in. `redis`: what the statements of the session have asked of Redis; it outlives the meter.
  /// `counts`: the session's statements count in the statistics; those of the status page do not.
  void log_in(sql::SessionStatistics facts, const executor::ExecutionCounters& redis, bool counts);
  void rename(const std::string& application_name);
  /// Returns the counts of the tables of the session's database. After `log_in`.
  sql::RelationCounts& relations() { return counts_->relations; }
  /// Returns where the session's long work is shown. After `log_in`.
  std::shared_ptr<sql::Progress> progress() { return {listed_, &listed_->progress}; }
  /// The session waits for a lock or for replicas. `event`: of static storage; empty: no longer.
  void show_wait(std::string_view event) {
    if (listed_) listed_->awaited_event = event.empty() ? nullptr : event.data();
  }
  /// The client has sent a statement. `text` is UTF-8.
  void begin_statement(const std::shared_ptr<const std::string>& text);
  /// A statement is complete. `text`: the engine's, where constants of the client's text may be parameters; `owner`: has the text, may be null;
  /// `tag`: of CommandComplete.
  template <class Owner>
  void end_statement(std::string_view text, const std::shared_ptr<Owner>& owner, sql::Oid role, std::string_view tag) {
    if (!is_running_) return;
    const StatementCounts::Run run = note_end(tag);
    query_id_ = unseen_ == nullptr ? thread_.statements.add({role, database_, text}, run, last_statement_, owner) : 0;
    listed_->activity.set_query_id(query_id_);
  }
  /// `text`: what the client has sent.
  void fail_statement(std::string_view sqlstate, std::string_view text);
  /// ReadyForQuery goes out.
  void rest(TransactionStatus status);
  /// The client is gone without a Terminate message; the session ends by an error; by an administrator.
  enum class End : std::uint8_t { kRegular, kAbandoned, kFatal, kKilled };
  void end(End how);

  void note_received(std::size_t bytes) { thread_.bytes_received.add(bytes); }
  void note_sent(std::size_t bytes) { thread_.bytes_sent.add(bytes); }
  ConnectionCounts& connections() { return server_.connections; }
  void note_authentication(std::string_view method, bool is_good) { server_.note_authentication(method, is_good); }
  /// Counts a connection that was refused before its login was complete.
  void note_refusal(std::string_view sqlstate);
  /// Nanoseconds that the last statement took.
  std::uint64_t last_duration() const { return last_duration_; }
  /// Nanoseconds since the last `begin_statement`.
  std::uint64_t message_duration() const { return steady_nanoseconds() - message_began_; }
  std::int64_t query_id() const { return query_id_; }

 private:
  /// Counts the end of a statement but in pg_stat_statements.
  StatementCounts::Run note_end(std::string_view tag);

  ServerCounts& server_;
  ThreadCounts& thread_;
  std::shared_ptr<ListedSession> listed_;  // null before the login
  DatabaseCounts* counts_ = nullptr;
  std::unique_ptr<DatabaseCounts> unseen_;  // the counts of a session that has no part in the statistics
  const executor::ExecutionCounters* redis_ = nullptr;  // null before the login
  std::uint64_t round_trips_ = 0, commands_ = 0;        // of `redis_`, when the statement began
  std::string database_;
  std::uint64_t measured_from_ = 0, message_began_ = 0, began_ = 0, rested_ = 0, logged_in_ = 0;  // nanoseconds of the steady clock
  std::uint64_t last_duration_ = 0;
  std::int64_t query_id_ = 0;
  StatementCounts::Last last_statement_;
  SharedOwner shown_text_;  // of the client's last statement
  bool is_running_ = false;        // a statement has begun since the last ReadyForQuery
  bool has_failed_ = false, has_rolled_back_ = false;
  bool was_in_transaction_ = false;
  bool has_ended_ = false;
};

}  // namespace redquel::server
