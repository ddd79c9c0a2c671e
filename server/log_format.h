#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <spdlog/common.h>
#include <spdlog/formatter.h>

namespace redquel::server {

enum class LogForm : std::uint8_t { kText, kJson };

/// Returns the form of redquel's log lines. Text: control characters of a message are written \xHH, so what a client sends makes no second
/// line and moves no cursor. JSON: one object a line, with the keys of PostgreSQL's jsonlog.
std::unique_ptr<spdlog::formatter> log_format(LogForm form = LogForm::kText);

/// A line about a session. Empty texts and zeros are left out.
struct LogFields {
  std::string_view severity;  // LOG, ERROR, FATAL, DEBUG5
  std::string_view user, database;
  std::int32_t process_id = 0;
  std::string_view remote_host;
  std::int32_t remote_port = 0;
  std::int64_t session_started = 0;  // µs since 2000-01-01 UTC
  std::string_view application_name, state_code, message, detail, hint, statement;
  std::int64_t query_id = 0;
  std::uint64_t redis_round_trips = 0, redis_commands = 0;
  bool has_lines = false;  // the message has several: in text form each further one begins with a tab
};
void log_fields(spdlog::level::level_enum level, const LogFields& fields);

}  // namespace redquel::server
