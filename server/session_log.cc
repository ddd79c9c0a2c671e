#include "server/session_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <initializer_list>

#include "parser/parse.h"
#include "parser/statement_shape.h"
#include "server/log_format.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

/// Longer statements are cut.
constexpr std::size_t kMostTextBytes = 16 * 1024;

std::string shown(std::string_view text) {
  std::size_t bytes = std::min(text.size(), kMostTextBytes);
  while (bytes < text.size() && bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return parser::hide_secrets(text.substr(0, bytes)) + (bytes < text.size() ? "…" : "");
}

bool admits_errors(std::string_view level) { return level != "log" && level != "fatal" && level != "panic"; }

}  // namespace

void LogSettings::take(std::string_view parameter, std::string_view value) {
  if (!parameter.starts_with("log_")) return;
  if (parameter == "log_statement") {
    statements = value == "all" ? Statements::kAll : value == "mod" ? Statements::kChanges : value == "ddl" ? Statements::kDefinitions : Statements::kNone;
  }
  if (parameter == "log_min_duration_statement") min_duration = std::stoll(std::string(value));
  if (parameter == "log_min_error_statement") error_statements = admits_errors(value);
  if (parameter == "log_duration") duration = value == "on";
  if (parameter == "log_connections") connections = value == "on";
  if (parameter == "log_disconnections") disconnections = value == "on";
  if (parameter == "log_lock_waits") lock_waits = value == "on";
}

/// One line, without the session's own fields.
struct SessionLog::Line {
  std::string_view severity = "LOG";
  std::string message, detail = {}, hint = {}, statement = {};
  std::string_view state_code = {};
  std::int64_t query_id = 0;
  RedisUse redis = {};
  bool has_lines = false;
  spdlog::level::level_enum level = spdlog::level::info;
};

LogSettings::Statements SessionLog::kind(const parser::ast::Statement& statement) {
  using Statements = LogSettings::Statements;
  const std::string_view tag = parser::command_tag(statement);
  const auto begins_with = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return tag.starts_with(word); });
  };
  if (begins_with({"INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "COPY"})) return Statements::kChanges;
  const bool is_definition = begins_with({"CREATE", "ALTER", "DROP", "COMMENT", "GRANT", "REVOKE", "REFRESH", "IMPORT", "REASSIGN", "SELECT INTO", "CLUSTER"});
  return is_definition ? Statements::kDefinitions : Statements::kAll;
}

bool SessionLog::wants_trace() { return spdlog::should_log(spdlog::level::trace); }

void SessionLog::write(Line line) const {
  log_fields(line.level, {.severity = line.severity,
                          .user = facts_.role_name,
                          .database = facts_.database,
                          .process_id = facts_.process_id,
                          .remote_host = facts_.client_address.empty() ? "[local]" : facts_.client_address,
                          .remote_port = facts_.client_port,
                          .session_started = facts_.started,
                          .application_name = facts_.application_name,
                          .state_code = line.state_code,
                          .message = line.message,
                          .detail = line.detail,
                          .hint = line.hint,
                          .statement = line.statement,
                          .query_id = line.query_id,
                          .redis_round_trips = line.redis.round_trips,
                          .redis_commands = line.redis.commands,
                          .has_lines = line.has_lines});
}

void SessionLog::begin(const sql::SessionStatistics& facts) {
  facts_ = facts;
  has_begun_ = true;
  began_ = std::chrono::steady_clock::now();
  if (!settings_.connections) return;
  std::string message = fmt::format("connection authorized: user={} database={}", facts_.role_name, facts_.database);
  if (!facts_.application_name.empty()) message += " application_name=" + facts_.application_name;
  if (facts_.encryption) message += fmt::format(" SSL enabled (protocol={}, cipher={}, bits={})", facts_.encryption->version, facts_.encryption->cipher, facts_.encryption->bits);
  write({.message = std::move(message)});
}

void SessionLog::end() {
  if (!has_begun_ || !settings_.disconnections) return;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_).count();
  std::string message = fmt::format("disconnection: session time: {}:{:02}:{:02}.{:03} user={} database={} host={}", milliseconds / 3'600'000,
                                    milliseconds / 60'000 % 60, milliseconds / 1000 % 60, milliseconds % 1000, facts_.role_name, facts_.database,
                                    facts_.client_address.empty() ? "[local]" : facts_.client_address);
  if (!facts_.client_address.empty()) message += fmt::format(" port={}", facts_.client_port);
  write({.message = std::move(message)});
}

void SessionLog::note_statement(std::string_view word, const parser::ast::Statement* statement, std::string_view text) {
  const LogSettings::Statements admitted = statement == nullptr ? LogSettings::Statements::kAll : kind(*statement);
  if (admitted <= settings_.statements) write({.message = fmt::format("{}: {}", word, shown(text))});
  else if (wants_trace()) write({.severity = "DEBUG5", .message = fmt::format("{}: {}", word, shown(text)), .level = spdlog::level::trace});
}

void SessionLog::note_duration(std::string_view word, std::uint64_t nanoseconds, std::string_view text, std::int64_t query_id, const RedisUse& redis) {
  const double milliseconds = static_cast<double>(nanoseconds) / 1e6;
  const bool is_slow = settings_.min_duration >= 0 && milliseconds >= static_cast<double>(settings_.min_duration);
  if (!is_slow && !settings_.duration) return;
  std::string message = fmt::format("duration: {:.3f} ms", milliseconds);
  if (is_slow) message += fmt::format("  {}: {}", word, shown(text));
  write({.message = std::move(message), .query_id = query_id, .redis = redis});
}

void SessionLog::note_plan(double milliseconds, std::string_view query, std::string_view plan, std::int64_t query_id) {
  write({.message = fmt::format("duration: {:.3f} ms  plan:\nQuery Text: {}\n{}", milliseconds, shown(query), plan), .query_id = query_id, .has_lines = true});
}

void SessionLog::note_error(std::string_view severity, const sql::SqlError& error, std::string_view text) {
  if (!has_begun_) return;
  Line line{.severity = severity, .message = error.message(), .detail = error.detail(), .hint = error.hint(), .state_code = error.sqlstate()};
  const std::string statement = shown(text);
  // A syntax error quotes the token at which it stands.
  if (error.sqlstate() == sqlstate::kSyntaxError && statement != text) line.message = "syntax error";
  if (settings_.error_statements) line.statement = statement;
  write(std::move(line));
}

void SessionLog::note_lock_wait(std::int64_t milliseconds, bool is_over, std::string_view text) {
  if (!settings_.lock_waits) return;
  write({.message = fmt::format("process {} {} after {} ms", facts_.process_id, is_over ? "acquired a lock" : "still waiting for a lock", milliseconds),
         .statement = shown(text)});
}

}  // namespace redquel::server
