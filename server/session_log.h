#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "parser/ast.h"
#include "server/log_settings.h"
#include "sql/error.h"
#include "sql/statistics.h"

namespace redquel::server {

/// The traffic of statements with Redis.
struct RedisUse {
  std::uint64_t round_trips = 0, commands = 0;
};

/// Writes the log lines of one session: its connection, statements, durations and errors, chosen by PostgreSQL's parameters of the same names.
/// Statements are written without passwords.
class SessionLog {
 public:
  explicit SessionLog(const LogSettings& settings) : settings_(settings) {}

  /// The client has logged in. `facts.application_name` is known.
  void begin(const sql::SessionStatistics& facts);
  void end();
  /// Returns true if statements of this kind, or their durations, are logged at all: the calls below then have something to do.
  bool wants_statements() const { return settings_.statements != LogSettings::Statements::kNone || wants_trace(); }
  bool wants_durations() const { return settings_.min_duration >= 0 || settings_.duration; }
  /// A statement begins. `word`: "statement" or "execute".
  void note_statement(std::string_view word, const parser::ast::Statement* statement, std::string_view text);
  /// Returns the least setting of log_statement that admits the statement.
  static LogSettings::Statements kind(const parser::ast::Statement& statement);
  /// A message of the client is done.
  void note_duration(std::string_view word, std::uint64_t nanoseconds, std::string_view text, std::int64_t query_id, const RedisUse& redis);
  /// A statement was slow, and auto_explain is on.
  void note_plan(double milliseconds, std::string_view query, std::string_view plan, std::int64_t query_id);
  /// `severity`: ERROR or FATAL. `position`: in characters, 0: none.
  void note_error(std::string_view severity, const sql::SqlError& error, std::string_view text);
  /// The session has waited for a lock for longer than deadlock_timeout; `is_over`: it has got it.
  void note_lock_wait(std::int64_t milliseconds, bool is_over, std::string_view text);

 private:
  static bool wants_trace();
  struct Line;
  void write(Line line) const;

  const LogSettings& settings_;
  sql::SessionStatistics facts_;
  bool has_begun_ = false;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace redquel::server
