#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "executor/redis/redis_pool.h"

namespace redquel::server {

namespace asio = boost::asio;

/// Runs work over connections of its own on this thread, to its end. Throws what it throws.
void run_over_redis(executor::ConnectionOptions redis, const std::function<asio::awaitable<void>(executor::RedisPool&)>& work);

/// Checks before the first client comes that redquel can work with this Redis. Throws SqlError if it never can: login, logical database,
/// version, a cluster. Warns if it may later: no answer within `connect_timeout`, or Redis loads its data.
void check_redis(executor::ConnectionOptions redis);

/// Returns the names of all databases by the numbers of their logical databases, with that of the URL.
asio::awaitable<std::map<int, std::string>> load_databases(executor::RedisPool& pool);

/// Returns the prefixes of the keys of tables and sequences in all databases.
asio::awaitable<std::set<std::string>> load_prefixes(executor::RedisPool& pool);

/// Makes the first role if there are none. Returns whether some role has a password; nullopt, with a warning, if Redis does not answer yet
/// or takes no writes.
std::optional<bool> prepare_roles(executor::ConnectionOptions redis);

}  // namespace redquel::server
