#include "executor/redis/redis_pool.h"

#include "executor/redis/cluster_buckets.h"
#include "executor/redis/master_watch.h"
#include "executor/redis/subscription.h"
#include "executor/redis/topology.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

RedisPool::RedisPool(asio::any_io_executor executor, ConnectionOptions options)
    : executor_(std::move(executor)), options_(std::move(options)) {
  options_.login = std::make_shared<RedisLogin>(current_login(options_));  // of this thread alone
  options_.unreplicated = std::make_shared<UnreplicatedCommits>();
  if (!options_.url.cluster.empty()) options_.topology = Topology::start(executor_, options_);
  if (options_.url.sentinels) options_.master_watch = MasterWatch::start(executor_, options_);
}

RedisPool::~RedisPool() {
  if (options_.master_watch) options_.master_watch->stop();
  if (options_.topology) options_.topology->stop();
}

RedisClient& RedisPool::switching(int database) {
  if (options_.topology) throw sql::not_supported("writing as the Redis user of a user mapping in a cluster");
  return connection(database, Purpose::switching);
}

asio::awaitable<void> RedisPool::ready() {
  if (!options_.topology) co_return co_await connection(default_database(), Purpose::statements).ready();
  CommandBatch ping;
  ping.add("PING");
  const std::vector<NodeReplies> all = co_await ask_each(std::move(ping));
  for (const NodeReplies& node : all) node.replies->or_throw();
}

asio::awaitable<std::vector<RedisPool::NodeReplies>> RedisPool::ask_each(CommandBatch batch) {
  std::vector<NodeReplies> all;
  if (!options_.topology) {
    const RepliesPtr replies = co_await connection(default_database(), Purpose::statements).execute(std::move(batch));
    all.push_back({options_.url.address(), replies});
    co_return all;
  }
  cluster(default_database(), Purpose::statements);
  const std::shared_ptr<NodeConnections> nodes = cluster_ways_.at(Purpose::statements).nodes;
  const std::shared_ptr<const SlotMap> map = co_await nodes->known();
  std::vector<std::unique_ptr<NodeRequest>> requests;
  for (const ClusterMaster& master : map->masters()) requests.push_back(nodes->send(master.place, batch));
  for (std::size_t index = 0; index < requests.size(); ++index) {
    const NodeOutcome outcome = co_await requests[index]->outcome();
    if (outcome.error) throw sql::SqlError(*outcome.error);
    all.push_back({map->masters()[index].place.address(), outcome.replies});
  }
  co_return all;
}

RedisPool::ClusterWay RedisPool::make_cluster_way(ConnectionOptions options) const {
  ClusterWay way;
  ClusterClient::Options client_options{.move_timeout = options.move_timeout, .unreplicated = options.unreplicated};
  if (options.bucket_key) {
    ConnectionOptions own = options;
    own.client_name += "-buckets";
    own.node_version_keys.clear();
    way.bucket_nodes = NodeConnections::make(executor_, std::move(own));
    client_options.buckets = std::make_shared<ClusterBuckets>(executor_, way.bucket_nodes, options.bucket_key, options.move_timeout);
  }
  way.nodes = NodeConnections::make(executor_, std::move(options));
  way.client = std::make_unique<ClusterClient>(executor_, way.nodes, client_options);
  return way;
}

ClusterClient& RedisPool::cluster(int database, Purpose purpose) {
  if (database != 0) throw sql::SqlError(sqlstate::kFeatureNotSupported, "a cluster has the logical database 0 alone");
  ClusterWay& way = cluster_ways_[purpose];
  if (!way.client) {
    ConnectionOptions options = options_;
    if (purpose == Purpose::bulk) options.client_name += "-bulk";
    way = make_cluster_way(std::move(options));
  }
  return *way.client;
}

std::unique_ptr<RedisClient> RedisPool::log_in(const RedisLogin& login, int database, std::string_view purpose) {
  ConnectionOptions options = options_;
  options.login = std::make_shared<RedisLogin>(login);
  options.login->tls = options_.login->tls;
  options.url.database = database;
  options.version_key.clear();  // another user may have no right to read it
  options.repairs_append_only_file = false;
  options.client_name += purpose;
  if (options.topology) {
    options.node_version_keys.clear();
    options.bucket_key = nullptr;
    return std::move(make_cluster_way(std::move(options)).client);
  }
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
  for (const auto& [key, connection] : connections_) sum += connection->statistics();
  for (const auto& [purpose, way] : cluster_ways_) {
    sum += way.nodes->statistics();
    if (way.bucket_nodes) sum += way.bucket_nodes->statistics();
  }
  return sum;
}

void RedisPool::stop() {
  if (options_.master_watch) options_.master_watch->stop();
  if (users_.timer) users_.timer->cancel();
  users_ = {};
  for (const auto& [key, connection] : connections_) connection->stop();
  for (const auto& [purpose, way] : cluster_ways_) {
    way.nodes->stop();
    if (way.bucket_nodes) way.bucket_nodes->stop();
  }
  if (options_.topology) options_.topology->stop();
}

}  // namespace redquel::executor
