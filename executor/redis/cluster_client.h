#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <memory>

#include "executor/redis/bucket_sender.h"
#include "executor/redis/client.h"
#include "executor/redis/cluster_nodes.h"
#include "executor/redis/cluster_plan.h"

namespace redquel::executor {

class ClusterScans;

/// A way to a Redis Cluster as if it was one Redis. A batch is split by the slots of its keys; the commands for one node leave in one write, and
/// keep their order. What a node says that it has not run (MOVED, ASK, TRYAGAIN, CLUSTERDOWN, LOADING, READONLY) is sent again, and so are reads
/// whose connection was lost, until `move_timeout` is over: then 57P03. Writes whose connection was lost fail with 08006.
///
/// Commands over keys of several slots: MGET, EXISTS, DEL, UNLINK and TOUCH run slot by slot, SINTER, SINTERCARD, SUNION and SDIFF are computed
/// here. SCAN, DBSIZE, CLIENT LIST, SLOWLOG GET and LATENCY LATEST visit all masters; other commands without keys go to one. Any other command, or a script, with keys in several slots throws 0A000.
/// SCAN's cursors are texts that this client alone understands.
///
/// Replies::catalog_version is that of all nodes that were asked; if they differ, a text that equals none.
class ClusterClient final : public RedisClient {
 public:
  struct Options {
    std::chrono::milliseconds move_timeout{60'000};
    std::shared_ptr<UnreplicatedCommits> unreplicated = nullptr;
    std::shared_ptr<BucketSender> buckets = nullptr;
  };
  ClusterClient(asio::any_io_executor executor, std::shared_ptr<ClusterNodes> nodes, Options options);
  ~ClusterClient() override;

  asio::awaitable<RepliesPtr> execute(CommandBatch batch, ExecutionCounters* counters = nullptr) override;
  /// Runs the commands as one snapshot for each slot.
  asio::awaitable<RepliesPtr> execute_atomic(CommandBatch batch, ExecutionCounters* counters = nullptr) override;
  std::unique_ptr<RedisRequest> start(CommandBatch batch, ExecutionCounters* counters = nullptr) override;
  std::unique_ptr<RedisRequest> start_atomic(CommandBatch batch, ExecutionCounters* counters = nullptr) override;
  std::uint64_t generation() const override { return nodes_->generation(); }
  BucketSender* buckets() override { return options_.buckets.get(); }
  UnreplicatedCommits* unreplicated() override { return options_.unreplicated.get(); }

 private:
  std::unique_ptr<RedisRequest> send(ClusterPlan plan, ExecutionCounters* counters);

  asio::any_io_executor executor_;
  std::shared_ptr<ClusterNodes> nodes_;
  Options options_;
  std::shared_ptr<ClusterScans> scans_;
};

}  // namespace redquel::executor
