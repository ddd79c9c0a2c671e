#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"
#include "sql/statistics.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Returns the answer of this process to what another one asks about sessions; nullopt: it is no such question. On a worker's thread.
/// `number`: of this process.
std::optional<std::string> answer_about_sessions(std::string_view question, std::int32_t number);

// The following ask the other processes (other_processes()).

/// Returns the sessions of the other processes. Those of a process that does not answer are missing.
asio::awaitable<std::vector<sql::SessionStatistics>> sessions_elsewhere();
/// Cancels the statement of a session of another process, or ends the session. Returns false if no process has it.
asio::awaitable<bool> signal_elsewhere(std::int32_t process_id, bool ends_session);
/// Brings a client's cancel request to the process that has the session.
asio::awaitable<void> cancel_elsewhere(std::int32_t process_id, std::int32_t secret);
/// Takes the lowest number that no other process has. `identity`: of this process. Throws 08006, and the errors of Redis.
asio::awaitable<std::int32_t> take_process_number(RedisClient& home, std::string identity);

}  // namespace redquel::executor
