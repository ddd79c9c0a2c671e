#include "server/redis_check.h"

#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <charconv>
#include <exception>
#include <span>

#include "executor/redis/requirements.h"
#include "executor/runtime/random_version.h"
#include "executor/storage/role_store.h"
#include "executor/storage/stored_format.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::server {

void run_over_redis(executor::ConnectionOptions redis, const std::function<asio::awaitable<void>(executor::RedisPool&)>& work) {
  asio::io_context context(1);
  executor::RedisPool pool(context.get_executor(), std::move(redis));
  std::exception_ptr failure;
  asio::co_spawn(context, work(pool), [&](std::exception_ptr error) {
    failure = std::move(error);
    pool.stop();
  });
  context.run();
  if (failure) std::rethrow_exception(failure);
}

asio::awaitable<std::map<int, std::string>> load_databases(executor::RedisPool& pool) {
  std::map<int, std::string> databases{{pool.default_database(), "postgres"}};
  executor::CommandBatch list;
  list.add("HGETALL", sql::home_key(sql::kDatabasesKey));
  const executor::RepliesPtr listed = co_await pool.shared(pool.default_database()).execute(std::move(list));
  const std::span<const executor::Reply> fields = listed->array(0);
  for (std::size_t index = 0; index + 1 < fields.size(); index += 2) {
    const std::string_view number = fields[index + 1].text;
    int value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error == std::errc() && value >= 0) databases[value] = std::string(fields[index].text);
  }
  co_return databases;
}

asio::awaitable<std::set<std::string>> load_prefixes(executor::RedisPool& pool) {
  const std::map<int, std::string> databases = co_await load_databases(pool);
  std::set<std::string> prefixes;
  for (const auto& [number, name] : databases) {
    executor::CommandBatch batch;
    batch.add("HKEYS", sql::home_key(sql::kPrefixesKey));
    const executor::RepliesPtr taken = co_await pool.shared(number).execute(std::move(batch));
    for (const executor::Reply& prefix : taken->array(0)) prefixes.emplace(prefix.text);
  }
  co_return prefixes;
}

void check_redis(executor::ConnectionOptions redis) {
  const auto ask = [address = redis.url.address()](executor::RedisPool& pool) -> asio::awaitable<void> {
    const executor::RepliesPtr replies =
        co_await pool.shared(pool.default_database()).execute(executor::required_commands(sql::home_key(sql::kTrialPrefix) + executor::random_version()));
    if (auto refusal = executor::refusal_of(*replies, address)) throw *std::move(refusal);
    const std::set<std::string> prefixes = co_await load_prefixes(pool);
    const executor::RepliesPtr reached = co_await pool.shared(pool.default_database()).execute(executor::access_trials(prefixes));
    if (auto refusal = executor::refused_access(*reached, prefixes, address)) throw *std::move(refusal);
    executor::CommandBatch look;
    look.add("GET", sql::home_key(sql::kFormatKey));
    const executor::RepliesPtr format = co_await pool.shared(pool.default_database()).execute(std::move(look));
    executor::check_stored_format(format->text(0));
  };
  try {
    run_over_redis(std::move(redis), ask);
  } catch (const sql::SqlError& error) {
    constexpr std::string_view kBadLogin = sqlstate::kInvalidAuthorizationSpecification, kNoDatabase = sqlstate::kUndefinedDatabase,
                               kNotSupported = sqlstate::kFeatureNotSupported, kNotPermitted = sqlstate::kInsufficientPrivilege;
    if (error.sqlstate() == kBadLogin || error.sqlstate() == kNoDatabase || error.sqlstate() == kNotSupported || error.sqlstate() == kNotPermitted) throw;
    spdlog::warn("{}; until that changes, statements fail with this error", error.message());
  }
}

std::optional<bool> prepare_roles(executor::ConnectionOptions redis) {
  std::optional<bool> has_verifiers;
  const auto ask = [&has_verifiers](executor::RedisPool& pool) -> asio::awaitable<void> {
    executor::RedisClient& home = pool.shared(pool.default_database());
    co_await executor::create_first_role(home);
    executor::CommandBatch batch;
    batch.add("HLEN", sql::home_key(sql::kVerifiersKey));
    const executor::RepliesPtr replies = co_await home.execute(std::move(batch));
    has_verifiers = replies->integer(0) > 0;
  };
  try {
    run_over_redis(std::move(redis), ask);
  } catch (const sql::SqlError& error) {
    spdlog::warn("roles are not known yet: {}", error.message());
  }
  return has_verifiers;
}

}  // namespace redquel::server
