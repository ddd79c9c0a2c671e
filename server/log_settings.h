#pragma once

#include <cstdint>
#include <string_view>

namespace redquel::server {

/// The run-time parameters that decide what a session logs.
struct LogSettings {
  enum class Statements : std::uint8_t { kNone, kDefinitions, kChanges, kAll };
  Statements statements = Statements::kNone;  // log_statement
  std::int64_t min_duration = -1;             // log_min_duration_statement in milliseconds; -1: never
  bool duration = false;                      // log_duration
  bool error_statements = true;               // log_min_error_statement admits ERROR
  bool connections = false, disconnections = false, lock_waits = false;

  /// Takes over the value of a parameter; others than those above are ignored.
  void take(std::string_view parameter, std::string_view value);
};

}  // namespace redquel::server
