#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"

namespace redquel::executor {

// The databases of one Redis are its logical databases (SELECT n). That of the URL is `postgres`; the names and numbers of the
// others lie there, in the hash redquel:databases. `home` is a way to that one.

inline constexpr std::string_view kHomeDatabase = "postgres";
/// The templates are always listed. `template1` gets a logical database when a client first connects to it, `template0` has none.
inline constexpr std::string_view kTemplateDatabase = "template1", kClosedTemplate = "template0";
inline bool is_template_database(std::string_view name) { return name == kTemplateDatabase || name == kClosedTemplate; }

/// The logical database of a name other than `postgres`; nullopt: there is none. XX001: its entry is no number.
asio::awaitable<std::optional<int>> find_database(RedisClient& home, const std::string& name);

/// All names, `postgres` first, the others in order.
asio::awaitable<std::vector<std::string>> list_databases(RedisClient& home);

/// Gives the name the first logical database that is empty and unassigned. Throws 42P04 if the name is taken, 53100 if no logical database
/// is left.
asio::awaitable<void> create_database(RedisClient& home, const std::string& name);

/// The logical databases of a Redis.
struct LogicalDatabases {
  std::int64_t all = 0, free = 0;  // `free`: empty, and of no database
};
/// `number`: of the logical database of `home`.
asio::awaitable<LogicalDatabases> count_logical_databases(RedisClient& home, int number);
/// Returns how to get more logical databases than these.
std::string more_databases_hint(std::int64_t all);

/// Deletes the keys below `redquel:` of a logical database in bounded steps. Gives the number of keys that stay: other programs' own.
asio::awaitable<std::size_t> delete_own_keys(RedisClient& database);

/// Deletes the name. False: there is none.
asio::awaitable<bool> forget_database(RedisClient& home, const std::string& name);

/// Throws 3D000 when the old name is unknown, 42P04 when the new one is taken.
asio::awaitable<void> rename_database(RedisClient& home, const std::string& name, const std::string& new_name);

}  // namespace redquel::executor
