#include "executor/storage/databases.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "executor/redis/redis_error.h"
#include "executor/redis/script.h"
#include "executor/runtime/random_version.h"
#include "sql/error.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

constexpr std::string_view kDatabasesKey = "redquel:databases";

// A script that selects another logical database leaves its caller's as it was. None says which one it is in, so the number of
// the caller's own is where the mark stands that it leaves.
const Script& create_script() {
  static const Script kScript("create_database", R"lua(
local databases, name, mark = KEYS[1], ARGV[1], ARGV[2]
if redis.call('HSETNX', databases, name, mark) == 0 then return 'exists' end
local taken = {}
for _, number in ipairs(redis.call('HVALS', databases)) do taken[number] = true end
local home, free
local number = 0
while not (home and free) do
  local selected = redis.pcall('SELECT', number)
  if type(selected) == 'table' and selected.err then break end
  if redis.call('DBSIZE') == 0 then
    if not free and not taken[tostring(number)] then free = number end
  elseif not home and redis.call('TYPE', databases).ok == 'hash' and redis.call('HGET', databases, name) == mark then
    home = number
  end
  number = number + 1
end
redis.call('SELECT', home)
if not free then
  redis.call('HDEL', databases, name)
  return 'full'
end
redis.call('HSET', databases, name, free)
return 'created'
)lua");
  return kScript;
}

const Script& rename_script() {
  static const Script kScript("rename_database", R"lua(
local databases, name, new_name = KEYS[1], ARGV[1], ARGV[2]
local number = redis.call('HGET', databases, name)
if not number then return 'missing' end
if redis.call('HSETNX', databases, new_name, number) == 0 then return 'exists' end
redis.call('HDEL', databases, name)
return 'renamed'
)lua");
  return kScript;
}

asio::awaitable<RepliesPtr> call(RedisClient& home, const Script& script, std::vector<std::string> arguments) {
  const std::vector<std::string> keys{std::string(kDatabasesKey)};
  RepliesPtr replies = co_await run_script(home, script, keys, arguments);
  replies->or_throw();
  co_return replies;
}

SqlError already_exists(const std::string& name) { return SqlError("42P04", fmt::format("database \"{}\" already exists", name)); }

}  // namespace

asio::awaitable<std::optional<int>> find_database(RedisClient& home, const std::string& name) {
  CommandBatch batch;
  batch.add("HGET", kDatabasesKey, name);
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  replies->or_throw();
  const std::optional<std::string_view> value = replies->text(0);
  if (!value) co_return std::nullopt;
  int number = 0;
  const auto parsed = std::from_chars(value->data(), value->data() + value->size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != value->data() + value->size() || number < 0) {
    throw SqlError("XX001", fmt::format("{} has no number for database \"{}\"", kDatabasesKey, name));
  }
  co_return number;
}

asio::awaitable<std::vector<std::string>> list_databases(RedisClient& home) {
  CommandBatch batch;
  batch.add("HKEYS", kDatabasesKey);
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
  const RepliesPtr replies = co_await call(home, create_script(), std::move(arguments));
  const std::string_view outcome = replies->text(0).value_or("");
  if (outcome == "exists") throw already_exists(name);
  if (outcome == "full") {
    throw SqlError("53100", fmt::format("could not create database \"{}\": Redis has no empty logical database left", name))
        .hint("The setting \"databases\" of Redis says how many there are.");
  }
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
  batch.add("HDEL", kDatabasesKey, name);
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  co_return replies->integer(0) != 0;
}

asio::awaitable<void> rename_database(RedisClient& home, const std::string& name, const std::string& new_name) {
  if (new_name == kHomeDatabase) throw already_exists(new_name);
  std::vector<std::string> arguments{name, new_name};
  const RepliesPtr replies = co_await call(home, rename_script(), std::move(arguments));
  const std::string_view outcome = replies->text(0).value_or("");
  if (outcome == "missing") throw SqlError("3D000", fmt::format("database \"{}\" does not exist", name));
  if (outcome == "exists") throw already_exists(new_name);
}

}  // namespace redquel::executor
