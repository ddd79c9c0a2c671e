// Failures on their way to the client.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <boost/system/system_error.hpp>
#include <new>

#include <boost/asio/error.hpp>

#include "server/ascii.h"
#include "server/session.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/value_errors.h"

namespace redquel::server {

namespace {

/// Severities from the least to the most pressing, as client_min_messages orders them.
int message_rank(std::string_view level) {
  static constexpr std::array<std::string_view, 10> kLevels = {"debug5", "debug4", "debug3", "debug2",  "debug1",
                                                               "log",    "info",   "notice", "warning", "error"};
  return static_cast<int>(std::ranges::find(kLevels, level) - kLevels.begin());
}

}  // namespace

sql::SqlError Session::as_sql_error(std::exception_ptr failure) const {
  try {
    std::rethrow_exception(failure);
  } catch (const sql::SqlError& error) {
    return error;
  } catch (const boost::system::system_error& error) {
    if (error.code() == asio::error::operation_aborted) {
      if (running_.cancel_reason == CancelReason::kUserRequest) {
        return sql::SqlError(sqlstate::kQueryCanceled, "canceling statement due to user request");
      }
      if (running_.cancel_reason == CancelReason::kStatementTimeout) {
        return sql::SqlError(sqlstate::kQueryCanceled, "canceling statement due to statement timeout");
      }
      if (running_.cancel_reason == CancelReason::kMemory) return memory_->process_is_full();
    }
    spdlog::error("session {}: {}", key_.process_id, error.what());
    return sql::SqlError(sqlstate::kInternalError, error.what());
  } catch (const std::bad_alloc&) {
    return sql::out_of_memory();
  } catch (const std::exception& error) {
    spdlog::error("session {}: {}", key_.process_id, error.what());
    return sql::SqlError(sqlstate::kInternalError, error.what());
  }
}

void Session::report(std::exception_ptr failure) {
  if (running_.cancel_reason == CancelReason::kClientGone) throw Disconnected();
  if (running_.cancel_reason == CancelReason::kShutdown) {
    throw sql::SqlError(sqlstate::kAdminShutdown, "terminating connection due to administrator command");
  }
  const sql::SqlError error = as_sql_error(failure);
  if (error.sqlstate() == sqlstate::kAdminShutdown) throw error;  // pg_terminate_backend() of the session itself: the session's last word is FATAL
  meter_.fail_statement(error.sqlstate(), message_.text ? std::string_view(*message_.text) : std::string_view());
  log_.note_error("ERROR", error, message_.text ? std::string_view(*message_.text) : std::string_view());
  encoder_.error_response({"ERROR", &error, character_position(error), message_.error_context});
  message_.has_unsent_error = true;
}

void Session::log_duration(char type) {
  if ((type != 'Q' && type != 'E') || !message_.text) return;
  log_.note_duration(type == 'Q' ? "statement" : "execute", meter_.message_duration(), *message_.text, meter_.query_id(),
                     {state_.counters.round_trips - message_.counters_before.round_trips, state_.counters.commands - message_.counters_before.commands});
}

std::uint32_t Session::character_position(const sql::SqlError& error) const {
  if (!error.position() || !message_.source.text) return 0;
  const std::string_view text = *message_.source.text;
  const std::size_t byte = std::min<std::size_t>(std::size_t{*error.position()} + message_.source.base, text.size());
  return static_cast<std::uint32_t>(sql::utf8_length(text.substr(0, byte)) + 1);
}

void Session::send_notice(std::string_view severity, const sql::SqlError& notice) {
  const std::string& least = parameters_.client_min_messages();
  const std::string level = severity == "DEBUG" ? "debug1" : lower_case(severity);
  if (level != "info" && message_rank(level) < message_rank(least)) return;
  encoder_.notice_response({severity, &notice, character_position(notice)});
  flush_.has_notice = true;
}

}  // namespace redquel::server
