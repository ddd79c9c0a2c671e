#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/redis/client.h"
#include "executor/redis/cluster_client.h"
#include "executor/redis/cluster_nodes.h"
#include "executor/redis/redis_user.h"
#include "executor/redis/shared_connection.h"

namespace redquel::executor {

/// The connections of one thread: per logical database (per node of a cluster) one for statements, one for bulk reads and one that changes its user, made at first
/// use; and those of the Redis users of user mappings.
class RedisPool final : public RedisAccess, public RedisLogins {
 public:
  /// `options.url.database` is that of the default database; the others share everything else.
  RedisPool(asio::any_io_executor executor, ConnectionOptions options);
  ~RedisPool();
  RedisPool(const RedisPool&) = delete;
  RedisPool& operator=(const RedisPool&) = delete;

  RedisClient& shared(int database) override { return client(database, Purpose::statements); }
  RedisClient& bulk(int database) override { return client(database, Purpose::bulk); }
  std::unique_ptr<Subscription> subscribe(std::string channel, std::function<void(std::string_view message)> take) override;
  std::unique_ptr<RedisClient> log_in(const RedisLogin& login, int database, std::string_view purpose) override;
  RedisClient& switching(int database) override;
  const RedisLogin& own_login() const override { return *options_.login; }
  RedisUsers& users() override { return users_; }
  /// Connections that are made from now on log in so.
  void change_login(const RedisLogin& login) { *options_.login = login; }
  const ConnectionOptions& options() const { return options_; }
  int default_database() const { return options_.url.database; }
  /// Returns the number of replicas that commits wait for; nullopt: all that follow.
  std::optional<int> synchronous_replicas() const { return options_.synchronous_replicas; }
  /// Waits until Redis, or each master of the cluster, can be used by statements. Throws as RedisClient::execute does.
  asio::awaitable<void> ready();

  /// The replies of one server, for examinations of Redis itself.
  struct NodeReplies {
    std::string address;
    RepliesPtr replies;
  };
  /// Runs the commands at Redis, or at each master of the cluster. Throws as RedisClient::execute does.
  asio::awaitable<std::vector<NodeReplies>> ask_each(CommandBatch batch);
  /// Returns the slots of the cluster. Null: Redis is none, or has not answered yet.
  std::shared_ptr<const SlotMap> slots() const { return options_.topology ? options_.topology->map() : nullptr; }

  /// Sum over all connections.
  ConnectionStatistics statistics() const;
  void stop();

 private:
  enum class Purpose { statements, bulk, switching };
  /// A client of a cluster and its connections.
  struct ClusterWay {
    std::shared_ptr<NodeConnections> nodes;
    std::shared_ptr<NodeConnections> bucket_nodes;  // null: nothing is kept in buckets
    std::unique_ptr<ClusterClient> client;
  };
  RedisClient& client(int database, Purpose purpose) {
    if (options_.topology) return cluster(database, purpose);
    return connection(database, purpose);
  }
  SharedConnection& connection(int database, Purpose purpose);
  ClusterClient& cluster(int database, Purpose purpose);
  ClusterWay make_cluster_way(ConnectionOptions options) const;

  asio::any_io_executor executor_;
  ConnectionOptions options_;
  std::map<std::pair<int, Purpose>, std::unique_ptr<SharedConnection>> connections_;
  std::map<Purpose, ClusterWay> cluster_ways_;
  RedisUsers users_;
};

}  // namespace redquel::executor
