#include "server/redis_engines.h"

#include <charconv>
#include <map>

#include <fmt/format.h>

#include "executor/redis/command_batch.h"
#include "executor/redis/redis_pool.h"
#include "sql/error.h"

namespace redquel::server {

namespace {

constexpr std::string_view kDefaultDatabase = "postgres";
constexpr std::string_view kDatabasesKey = "redquel:databases";

class RedisEngines final : public EngineSource {
 public:
  RedisEngines(asio::io_context& context, executor::ConnectionOptions redis, executor::EngineLimits limits)
      : pool_(context.get_executor(), std::move(redis)), limits_(limits) {}

  asio::awaitable<std::shared_ptr<executor::Engine>> open(std::string name) override {
    int number = pool_.default_database();
    if (name != kDefaultDatabase) number = co_await find_database(name);
    // Another session may have made it meanwhile; databases dropped and made again have another number.
    std::shared_ptr<executor::Engine>& engine = engines_[{name, number}];
    if (!engine) engine = executor::make_engine(pool_.shared(number), pool_.bulk(number), limits_);
    co_return engine;
  }

  void stop() override { pool_.stop(); }

 private:
  asio::awaitable<int> find_database(const std::string& name) {
    executor::CommandBatch batch;
    batch.add("HGET", kDatabasesKey, name);
    const executor::RepliesPtr replies = co_await pool_.shared(pool_.default_database()).execute(std::move(batch));
    const std::optional<std::string_view> value = replies->text(0);
    if (!value) throw sql::SqlError("3D000", fmt::format("database \"{}\" does not exist", name));
    int number = 0;
    const auto parsed = std::from_chars(value->data(), value->data() + value->size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != value->data() + value->size() || number < 0) {
      throw sql::SqlError("XX001", fmt::format("{} has no number for database \"{}\"", kDatabasesKey, name));
    }
    co_return number;
  }

  executor::RedisPool pool_;
  executor::EngineLimits limits_;
  std::map<std::pair<std::string, int>, std::shared_ptr<executor::Engine>> engines_;
};

}  // namespace

EngineSourceFactory redis_engines(executor::ConnectionOptions redis, executor::EngineLimits limits) {
  return [redis = std::move(redis), limits](asio::io_context& context) {
    return std::make_unique<RedisEngines>(context, redis, limits);
  };
}

}  // namespace redquel::server
