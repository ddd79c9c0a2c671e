#include "executor/redis/redis_pool.h"

#include "executor/redis/subscription.h"

namespace redquel::executor {

RedisPool::RedisPool(asio::any_io_executor executor, ConnectionOptions options)
    : executor_(std::move(executor)), options_(std::move(options)) {
  options_.login = std::make_shared<RedisLogin>(current_login(options_));  // of this thread alone
}

SharedConnection& RedisPool::shared(int database) { return connection(database, Purpose::statements); }
SharedConnection& RedisPool::bulk(int database) { return connection(database, Purpose::bulk); }

std::unique_ptr<Subscription> RedisPool::subscribe(std::string channel, std::function<void(std::string_view message)> take) {
  return std::make_unique<Subscription>(executor_, options_, std::move(channel), std::move(take));
}

SharedConnection& RedisPool::connection(int database, Purpose purpose) {
  std::unique_ptr<SharedConnection>& slot = connections_[{database, purpose}];
  if (!slot) {
    ConnectionOptions options = options_;
    options.url.database = database;
    if (purpose == Purpose::bulk) options.client_name += "-bulk";
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
  }
  return sum;
}

void RedisPool::stop() {
  for (const auto& [key, connection] : connections_) connection->stop();
}

}  // namespace redquel::executor
