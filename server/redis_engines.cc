#include "server/redis_engines.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "executor/make_engine.h"
#include "executor/memory/tracking_keeper.h"
#include "executor/redis/look_client.h"
#include "executor/redis/redis_pool.h"
#include "executor/runtime/lease_keeper.h"
#include "executor/runtime/process_exchange.h"
#include "executor/runtime/random_version.h"
#include "executor/runtime/session_exchange.h"
#include "executor/ddl/role_setting.h"
#include "executor/storage/databases.h"
#include "executor/storage/role_store.h"
#include "server/setting_check.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

bool may_count(const executor::ReplicaLine& line) { return line.objection().empty(); }

class RedisEngines final : public EngineSource {
 public:
  /// `own`: the keyspace of a redquel that only looks at Redis; null: redquel's keys are in Redis.
  RedisEngines(asio::io_context& context, executor::ConnectionOptions redis, executor::EngineLimits limits, std::shared_ptr<executor::OwnKeyspace> own,
               std::shared_ptr<executor::TableMemory> memory, std::shared_ptr<executor::LeaseKeeper> leases, const std::string& identity)
      : leases_(std::move(leases)), executor_(context.get_executor()), pool_(context.get_executor(), std::move(redis)), own_(std::move(own)), limits_(limits), memory_(std::move(memory)) {
    if (own_) look_.emplace(pool_, *own_);
    else questions_.emplace(pool_, pool_.shared(pool_.default_database()), identity);
  }

  asio::awaitable<std::shared_ptr<executor::Engine>> open(std::string name) override {
    executor::RedisClient& home = this->home();
    if (questions_) executor::other_processes() = &*questions_;
    executor::lease_keeper() = leases_.get();
    std::optional<int> number = pool_.default_database();
    if (name != executor::kHomeDatabase) number = co_await executor::find_database(home, name);
    if (!number && name == executor::kTemplateDatabase) number = co_await make_template(home);
    if (name == executor::kClosedTemplate) {
      throw sql::SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("database \"{}\" is not currently accepting connections", name));
    }
    if (!number) throw sql::undefined_database(name);
    // Another session may have made it meanwhile; databases dropped and made again have another number.
    std::shared_ptr<executor::Engine>& engine = engines_[{name, *number}];
    if (!engine && leases_) leases_->watch(*number);
    if (!engine) engine = executor::make_engine(access(), *number, home, limits_, memory_);
    const std::shared_ptr<executor::Engine> opened = engine;
    co_await opened->begin_session();
    co_return opened;
  }

  asio::awaitable<executor::ReplicationWay> replication(std::string name) override {
    if (own_) throw sql::not_supported("replication of a Redis that is only looked at");
    std::optional<int> number = pool_.default_database();
    if (name != executor::kHomeDatabase) number = co_await executor::find_database(home(), name);
    if (!number) throw sql::undefined_database(name);
    executor::ReplicationWay way{.executor = executor_, .options = pool_.options(), .client = &pool_.bulk(*number), .database = *number};
    co_return way;
  }

  asio::awaitable<executor::LoginFacts> login_facts(std::string role, std::string database) override {
    return executor::read_login_role(home(), std::move(role), std::move(database));
  }
  asio::awaitable<void> ping() override { co_await pool_.ready(); }
  asio::awaitable<std::optional<RedisMemory>> redis_memory() override {
    if (own_) co_return std::nullopt;  // INFO is more than reading
    executor::CommandBatch batch;
    batch.add("INFO", "memory");
    batch.add("INFO", "replication");
    const executor::RepliesPtr replies = co_await pool_.shared(pool_.default_database()).execute(std::move(batch));
    const executor::Reply& text = (*replies)[0];
    if (!text.is_text()) co_return std::nullopt;
    const executor::Reply& replication = (*replies)[1];
    std::optional<std::uint64_t> replicas;
    if (replication.is_text()) replicas = static_cast<std::uint64_t>(std::ranges::count_if(executor::read_replication(replication.text).replicas, may_count));
    co_return RedisMemory{executor::info_number(text.text, "used_memory").value_or(0), executor::info_number(text.text, "maxmemory").value_or(0), replicas};
  }
  executor::ConnectionStatistics redis_statistics() const override { return pool_.statistics(); }
  sql::MemoryReserve* memory_reserve() override { return memory_.get(); }
  void change_login(const executor::RedisLogin& login) override {
    pool_.change_login(login);
    if (leases_) leases_->change_login(login);
  }

  asio::awaitable<std::int32_t> join_processes() override {
    if (!questions_) co_return 0;
    executor::other_processes() = &*questions_;
    executor::RedisClient& home = pool_.shared(pool_.default_database());
    try {
      listener_.emplace(pool_, home, questions_->identity(), [this](std::string_view question) { return executor::answer_about_sessions(question, number_); });
      co_await listener_->ready();
      if (!questions_) co_return 0;  // the end came first
      number_ = co_await executor::take_process_number(home, questions_->identity());
    } catch (const sql::SqlError& error) {
      spdlog::warn("other redquel processes over this Redis do not see the sessions of this one: {}", error.message());
    }
    co_return number_;
  }

  void stop() override {
    executor::other_processes() = nullptr;
    listener_.reset();
    questions_.reset();
    executor::home_database() = {};
    engines_.clear();  // what they do by themselves ends
    executor::lease_keeper() = nullptr;
    pool_.stop();
  }

 private:
  executor::RedisAccess& access() {
    if (look_) return *look_;
    return pool_;
  }

  /// The thread's way to the roles and the list of databases.
  executor::RedisClient& home() {
    executor::RedisClient& home = access().shared(pool_.default_database());
    executor::home_database() = {&home, pool_.default_database()};
    return home;
  }

  static asio::awaitable<std::optional<int>> make_template(executor::RedisClient& home) {
    const std::string name(executor::kTemplateDatabase);
    try {
      co_await executor::create_database(home, name);
    } catch (const sql::SqlError& error) {
      if (error.sqlstate() != sqlstate::kDuplicateDatabase) throw;  // another session was faster
    }
    co_return co_await executor::find_database(home, name);
  }

  std::shared_ptr<executor::LeaseKeeper> leases_;  // of all threads; null: redquel only looks at Redis
  asio::any_io_executor executor_;
  executor::RedisPool pool_;
  std::shared_ptr<executor::OwnKeyspace> own_;
  std::optional<executor::LookAccess> look_;
  executor::EngineLimits limits_;
  std::shared_ptr<executor::TableMemory> memory_;  // of all threads; null: no table is kept
  std::map<std::pair<std::string, int>, std::shared_ptr<executor::Engine>> engines_;
  std::optional<executor::ProcessQuestions> questions_;  // none: redquel only looks at Redis
  std::optional<executor::ProcessListener> listener_;    // of one thread of the process
  std::int32_t number_ = 0;                              // of the process
};

/// Returns the copies of the process, and a thread for their tracking connections. Null: no table is kept.
std::shared_ptr<executor::TableMemory> make_memory(const executor::ConnectionOptions& redis, executor::MemoryOptions options) {
  if (options.bytes == 0) return nullptr;
  const auto thread = std::make_shared<executor::KeeperThread>();
  return std::make_shared<executor::TableMemory>(options, [redis, thread](int database) {
    executor::ConnectionOptions own = redis;
    own.url.database = database;
    return std::make_shared<executor::TrackingKeeper>(thread->executor(), std::move(own));
  });
}

}  // namespace

EngineSourceFactory redis_engines(executor::ConnectionOptions redis, executor::EngineLimits limits, std::shared_ptr<executor::OwnKeyspace> own,
                                  executor::MemoryOptions memory) {
  executor::set_setting_check(checked_setting);
  std::shared_ptr<executor::TableMemory> copies = make_memory(redis, memory);
  const auto leases = own ? nullptr : std::make_shared<executor::LeaseKeeper>(redis);
  return [redis = std::move(redis), limits, own = std::move(own), copies = std::move(copies), leases,
          identity = executor::random_version()](asio::io_context& context) {
    return std::make_unique<RedisEngines>(context, redis, limits, own, copies, leases, identity);
  };
}

}  // namespace redquel::server
