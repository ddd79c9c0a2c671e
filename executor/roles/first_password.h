#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "executor/redis/client.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Gives a superuser without a password one, and makes it role 10 where Redis has no roles or has lost that one: what Redis's own login
/// allows. Throws SqlError 42704 if there is no such superuser, 42710 if it has a password already. The thread's home_database() is set.
asio::awaitable<void> set_first_password(RedisClient& home, std::string role, std::string password);

}  // namespace redquel::executor
