#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "executor/redis/client.h"
#include "executor/redis/own_keyspace.h"
#include "executor/redis/redis_pool.h"

namespace redquel::executor {

/// A way to a Redis that is only looked at. Commands on keys of redquel's own are answered from memory. Others are sent if they are
/// `is_looking_command`; 0A000 names one that is not, and nothing of its batch is sent. There is no MULTI and no script. Bulk reads keep the pace
/// of the process: those of a client for them, and batches of other clients that look at many keys or elements.
class LookClient final : public RedisClient {
 public:
  /// The batches that keep the pace.
  enum class Paced : std::uint8_t { kLarge, kAll };
  /// `share`: the pace of bulk reads.
  /// `own`: null: redquel's own keys are read from Redis, too.
  LookClient(RedisClient& connection, OwnKeyspace* own, RedisShare& share, Paced paces) : connection_(connection), own_(own), share_(share), paces_(paces) {}

  asio::awaitable<RepliesPtr> execute(CommandBatch batch, ExecutionCounters* counters = nullptr) override;
  asio::awaitable<RepliesPtr> execute_atomic(CommandBatch batch, ExecutionCounters* counters = nullptr) override;
  std::unique_ptr<RedisRequest> start(CommandBatch batch, ExecutionCounters* counters = nullptr) override;
  std::unique_ptr<RedisRequest> start_atomic(CommandBatch batch, ExecutionCounters* counters = nullptr) override;
  std::uint64_t generation() const override { return connection_.generation(); }
  OwnKeyspace* own_keyspace() override { return own_; }

 private:
  /// `keys`: that SCAN in the batch looks at. `elements`: that all of it reads. `waits`: the batch keeps the pace.
  asio::awaitable<RepliesPtr> send(CommandBatch batch, std::size_t keys, std::size_t elements, bool waits, ExecutionCounters* counters);
  asio::awaitable<void> measure_latency();

  RedisClient& connection_;
  OwnKeyspace* own_;
  RedisShare& share_;
  Paced paces_;
};

/// The looking ways of one thread, over the connections of its pool.
class LookAccess final : public RedisAccess {
 public:
  LookAccess(RedisPool& pool, OwnKeyspace& own) : pool_(pool), own_(own) {}

  RedisClient& shared(int database) override { return client(database, false); }
  RedisClient& bulk(int database) override { return client(database, true); }

 private:
  LookClient& client(int database, bool is_bulk);

  RedisPool& pool_;
  OwnKeyspace& own_;
  std::map<std::pair<int, bool>, std::unique_ptr<LookClient>> clients_;
};

/// Returns the options with which the connections of such a pool only look. `own`: null: redquel's own keys are in Redis.
ConnectionOptions looking_options(ConnectionOptions options, std::shared_ptr<OwnKeyspace> own);

}  // namespace redquel::executor
