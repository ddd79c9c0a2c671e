#include "executor/storage/databases.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "executor/redis/redis_error.h"
#include "executor/runtime/random_version.h"
#include "executor/scripts/scripts.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

asio::awaitable<RepliesPtr> call(RedisClient& home, const Script& script, std::vector<std::string> arguments) {
  const std::vector<std::string> keys{sql::home_key(sql::kDatabasesKey)};
  RepliesPtr replies = co_await run_script(home, script, keys, arguments);
  replies->or_throw();
  co_return replies;
}

SqlError already_exists(const std::string& name) { return sql::duplicate_database(name); }

}  // namespace

asio::awaitable<std::optional<int>> find_database(RedisClient& home, const std::string& name) {
  CommandBatch batch;
  batch.add("HGET", sql::home_key(sql::kDatabasesKey), name);
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  replies->or_throw();
  const std::optional<std::string_view> value = replies->text(0);
  if (!value) co_return std::nullopt;
  int number = 0;
  const auto parsed = std::from_chars(value->data(), value->data() + value->size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != value->data() + value->size() || number < 0) {
    throw SqlError(sqlstate::kDataCorrupted, fmt::format("{} has no number for database \"{}\"", sql::kDatabasesKey, name));
  }
  co_return number;
}

asio::awaitable<std::vector<std::string>> list_databases(RedisClient& home) {
  CommandBatch batch;
  batch.add("HKEYS", sql::home_key(sql::kDatabasesKey));
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  replies->or_throw();
  std::vector<std::string> names{std::string(kHomeDatabase)};
  for (const Reply& name : replies->array(0)) names.emplace_back(name.text);
  std::sort(names.begin() + 1, names.end());
  co_return names;
}

asio::awaitable<void> create_database(RedisClient& home, const std::string& name) {
  if (name == kHomeDatabase) throw already_exists(name);
  std::vector<std::string> arguments{name, "being made " + random_version()};
  const RepliesPtr replies = co_await call(home, kCreateDatabaseScript, std::move(arguments));
  const std::string_view outcome = replies->text(0).value_or("");
  if (outcome == "exists") throw already_exists(name);
  if ((*replies)[0].kind == Reply::Kind::integer) {
    throw SqlError(sqlstate::kDiskFull, fmt::format("could not create database \"{}\": Redis has no empty logical database left", name))
        .hint(more_databases_hint(replies->integer(0)));
  }
}

asio::awaitable<LogicalDatabases> count_logical_databases(RedisClient& home, int number) {
  std::vector<std::string> arguments{std::to_string(number)};
  const RepliesPtr replies = co_await call(home, kCountDatabasesScript, std::move(arguments));
  const std::span<const Reply> counts = replies->array(0);
  if (counts.size() != 2) throw unexpected_reply("EVALSHA", "two numbers of logical databases");
  co_return LogicalDatabases{counts[0].integer, counts[1].integer};
}

std::string more_databases_hint(std::int64_t all) {
  return fmt::format(
      "Redis has {} logical databases. Set \"databases\" to a greater number in redis.conf and start Redis again.",
      all);
}

asio::awaitable<std::size_t> delete_own_keys(RedisClient& database) {
  constexpr std::size_t kStep = 1000;
  std::string cursor = "0";
  do {
    CommandBatch scan;
    scan.add("SCAN", cursor, "MATCH", "redquel:*", "COUNT", kStep);
    const RepliesPtr found = co_await database.execute(std::move(scan));
    const std::span<const Reply> parts = found->array(0);
    if (parts.size() != 2 || !parts[0].is_text()) throw unexpected_reply("SCAN", "a cursor and keys");
    CommandBatch batch;
    for (const Reply& key : parts[1].children()) batch.add("UNLINK", key.text);
    cursor = std::string(parts[0].text);
    const RepliesPtr deleted = co_await database.execute(std::move(batch));
    deleted->or_throw();
  } while (cursor != "0");
  CommandBatch size;
  size.add("DBSIZE");
  const RepliesPtr left = co_await database.execute(std::move(size));
  co_return static_cast<std::size_t>(left->integer(0));
}

asio::awaitable<bool> forget_database(RedisClient& home, const std::string& name) {
  CommandBatch batch;
  batch.add("HDEL", sql::home_key(sql::kDatabasesKey), name);
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  co_return replies->integer(0) != 0;
}

asio::awaitable<void> rename_database(RedisClient& home, const std::string& name, const std::string& new_name) {
  if (new_name == kHomeDatabase) throw already_exists(new_name);
  std::vector<std::string> arguments{name, new_name};
  const RepliesPtr replies = co_await call(home, kRenameDatabaseScript, std::move(arguments));
  const std::string_view outcome = replies->text(0).value_or("");
  if (outcome == "missing") throw sql::undefined_database(name);
  if (outcome == "exists") throw already_exists(new_name);
}

}  // namespace redquel::executor
