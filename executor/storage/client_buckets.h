#pragma once

#include "executor/redis/bucket_sender.h"
#include "executor/redis/client.h"

namespace redquel::executor {

/// The way to the buckets over a client of the cluster: one batch of scripts a round, which the client divides among the nodes. Where replicas
/// confirm commits, the answers wait for them.
class ClientBuckets final : public BucketSender {
 public:
  explicit ClientBuckets(RedisClient& client) : client_(client) {}

  asio::awaitable<std::vector<BucketAnswer>> run(std::vector<BucketCall> calls) override;

 private:
  asio::awaitable<std::vector<BucketAnswer>> run_once(std::vector<BucketCall> calls);

  RedisClient& client_;
};

}  // namespace redquel::executor
