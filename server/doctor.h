#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/redis/redis_pool.h"

namespace redquel::server {

namespace asio = boost::asio;

/// A fact or a fault of a Redis, or of the data that redquel has stored in it.
struct Finding {
  enum class Severity : std::uint8_t { kNote, kWarning, kError } severity;  // a note: no fault; an error: logins or statements fail
  std::string message;
  std::string hint = {};  // what to do; empty: not known
};

/// Examines a Redis: its version, role, persistence and memory, the rights of redquel's login, the definitions of each database, and the
/// roles. Throws Redis's errors if it does not answer.
asio::awaitable<std::vector<Finding>> examine_redis(executor::RedisPool& pool, std::string address);

}  // namespace redquel::server
