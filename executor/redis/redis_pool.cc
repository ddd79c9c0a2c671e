#include "executor/redis/redis_pool.h"

#include "executor/redis/master_watch.h"
#include "executor/redis/subscription.h"

namespace redquel::executor {

RedisPool::RedisPool(asio::any_io_executor executor, ConnectionOptions options)
    : executor_(std::move(executor)), options_(std::move(options)) {
  options_.login = std::make_shared<RedisLogin>(current_login(options_));  // of this thread alone
  options_.unreplicated = std::make_shared<UnreplicatedCommits>();
  if (options_.url.sentinels) options_.master_watch = MasterWatch::start(executor_, options_);
}

RedisPool::~RedisPool() {
  if (options_.master_watch) options_.master_watch->stop();
}

SharedConnection& RedisPool::shared(int database) { return connection(database, Purpose::statements); }
SharedConnection& RedisPool::bulk(int database) { return connection(database, Purpose::bulk); }

SharedConnection& RedisPool::switching(int database) { return connection(database, Purpose::switching); }

std::unique_ptr<RedisClient> RedisPool::log_in(const RedisLogin& login, int database, std::string_view purpose) {
  ConnectionOptions options = options_;
  options.login = std::make_shared<RedisLogin>(login);
  options.login->tls = options_.login->tls;
  options.url.database = database;
  options.version_key.clear();  // another user may have no right to read it
  options.repairs_append_only_file = false;
  options.client_name += purpose;
  return std::make_unique<SharedConnection>(executor_, std::move(options));
}

std::unique_ptr<Subscription> RedisPool::subscribe(std::string channel, std::function<void(std::string_view message)> take) {
  return std::make_unique<Subscription>(executor_, options_, std::move(channel), std::move(take));
}

SharedConnection& RedisPool::connection(int database, Purpose purpose) {
  std::unique_ptr<SharedConnection>& slot = connections_[{database, purpose}];
  if (!slot) {
    ConnectionOptions options = options_;
    options.url.database = database;
    if (purpose == Purpose::bulk) options.client_name += "-bulk";
    if (purpose == Purpose::switching) {
      options.client_name += "-switching";
      options.version_key.clear();  // the user of the last batch may have no right to read it
    }
    slot = std::make_unique<SharedConnection>(executor_, std::move(options));
  }
  return *slot;
}

ConnectionStatistics RedisPool::statistics() const {
  ConnectionStatistics sum;
  for (const auto& [key, connection] : connections_) {
    const ConnectionStatistics& one = connection->statistics();
    sum.connects += one.connects;
    sum.turns += one.turns;
    sum.batches += one.batches;
    sum.commands += one.commands;
    sum.bytes_sent += one.bytes_sent;
    sum.bytes_received += one.bytes_received;
    sum.held_writes += one.held_writes;
  }
  return sum;
}

void RedisPool::stop() {
  if (options_.master_watch) options_.master_watch->stop();
  if (users_.timer) users_.timer->cancel();
  users_ = {};
  for (const auto& [key, connection] : connections_) connection->stop();
}

}  // namespace redquel::executor
