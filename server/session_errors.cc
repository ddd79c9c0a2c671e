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
      if (cancel_reason_ == CancelReason::kUserRequest) {
        return sql::SqlError(sqlstate::kQueryCanceled, "canceling statement due to user request");
      }
      if (cancel_reason_ == CancelReason::kStatementTimeout) {
        return sql::SqlError(sqlstate::kQueryCanceled, "canceling statement due to statement timeout");
      }
      if (cancel_reason_ == CancelReason::kMemory) return memory_->process_is_full();
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
  if (cancel_reason_ == CancelReason::kClientGone) throw Disconnected();
  if (cancel_reason_ == CancelReason::kShutdown) {
    throw sql::SqlError(sqlstate::kAdminShutdown, "terminating connection due to administrator command");
  }
  const sql::SqlError error = as_sql_error(failure);
  if (error.sqlstate() == sqlstate::kAdminShutdown) throw error;  // pg_terminate_backend() of the session itself: the session's last word is FATAL
  meter_.fail_statement(error.sqlstate(), current_text_ ? std::string_view(*current_text_) : std::string_view());
  log_.note_error("ERROR", error, current_text_ ? std::string_view(*current_text_) : std::string_view());
  encoder_.error_response({"ERROR", &error, character_position(error), error_context_});
  error_unsent_ = true;
}

void Session::log_duration(char type) {
  if ((type != 'Q' && type != 'E') || !current_text_) return;
  log_.note_duration(type == 'Q' ? "statement" : "execute", meter_.message_duration(), *current_text_, meter_.query_id(),
                     {state_.counters.round_trips - counters_before_.round_trips, state_.counters.commands - counters_before_.commands});
}

std::uint32_t Session::character_position(const sql::SqlError& error) const {
  if (!error.position() || !current_source_.text) return 0;
  const std::string_view text = *current_source_.text;
  const std::size_t byte = std::min<std::size_t>(std::size_t{*error.position()} + current_source_.base, text.size());
  return static_cast<std::uint32_t>(sql::utf8_length(text.substr(0, byte)) + 1);
}

void Session::send_notice(std::string_view severity, const sql::SqlError& notice) {
  const std::string& least = parameters_.client_min_messages();
  const std::string level = severity == "DEBUG" ? "debug1" : lower_case(severity);
  if (level != "info" && message_rank(level) < message_rank(least)) return;
  encoder_.notice_response({severity, &notice, character_position(notice)});
}

}  // namespace redquel::server
