#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The traffic of statements with Redis, for EXPLAIN ANALYZE and metrics. The GET of the catalog version that ends every turn belongs to
/// no statement and is not counted; MULTI and EXEC are.
struct ExecutionCounters {
  std::uint64_t round_trips = 0;
  std::uint64_t commands = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;

  ExecutionCounters& operator+=(const ExecutionCounters& other) {
    round_trips += other.round_trips;
    commands += other.commands;
    bytes_sent += other.bytes_sent;
    bytes_received += other.bytes_received;
    return *this;
  }
};

struct LoadedCatalog;
class BucketSender;
class OwnKeyspace;
class SharedConnection;
class UnreplicatedCommits;

/// Commands that are on their way while their caller does something else. Destroyed before the replies were taken:
/// these are read and dropped.
class RedisRequest {
 public:
  virtual ~RedisRequest() = default;
  /// Waits for the replies; once. Throws as RedisClient::execute does.
  virtual asio::awaitable<RepliesPtr> replies() = 0;
};

/// A way to one logical database of Redis. Belongs to one thread (one io_context) and is shared by the sessions of that
/// thread: their batches are pipelined, each in one piece. A bare pipeline is not atomic: commands of other Redis
/// clients may run between two commands of a batch. Commands that change the connection (WATCH, SUBSCRIBE, SELECT…)
/// or block it have no place here.
class RedisClient {
 public:
  virtual ~RedisClient() = default;

  /// Runs the commands in order and returns one reply per command; error replies are values. An empty batch gives no replies without a
  /// round trip. `counters`, if not null, must outlive the call.
  /// Throws SqlError 08006 if the connection is lost while the batch is on its way (then it is unknown how many of its commands ran) or
  /// cannot be made in time, 57P03 while Redis loads its data, 28000 if Redis refuses the login.
  /// Cancellation of the waiting coroutine (any type) throws system_error(operation_aborted) and does not affect other callers: commands
  /// already sent run, their replies are read and dropped.
  virtual asio::awaitable<RepliesPtr> execute(CommandBatch batch, ExecutionCounters* counters = nullptr) = 0;

  /// Like `execute`, with the commands as one snapshot (MULTI/EXEC; a single command needs none): for reads whose replies are combined.
  /// Returns the replies of the commands alone. If Redis refuses to queue a command, throws its SqlError, and no command has run. No
  /// EVALSHA in here (a NOSCRIPT in the middle would not stop the rest). A client that only looks has no MULTI: other clients may write
  /// between its commands.
  virtual asio::awaitable<RepliesPtr> execute_atomic(CommandBatch batch, ExecutionCounters* counters = nullptr);

  /// Sends the commands as `execute` does; the replies are taken later. A client that cannot do two things at a time
  /// sends them then. `counters` must outlive the request.
  virtual std::unique_ptr<RedisRequest> start(CommandBatch batch, ExecutionCounters* counters = nullptr);
  /// Like start(), as one snapshot (execute_atomic).
  virtual std::unique_ptr<RedisRequest> start_atomic(CommandBatch batch, ExecutionCounters* counters = nullptr);

  /// Moves when Redis turns out to be another one than before (see Replies::generation).
  virtual std::uint64_t generation() const = 0;

  /// Returns the place of redquel's own keys, if it is not Redis: then this client only looks at Redis, and runs no scripts. Null: they are in
  /// Redis.
  virtual OwnKeyspace* own_keyspace() { return nullptr; }

  /// Returns the connection that takes all commands as they are. Null: there is none, commands go to several places or are looked at.
  virtual SharedConnection* connection() { return nullptr; }

  /// Returns the way to the buckets of a cluster (redis/bucket_sender.h). Null: one Redis.
  virtual BucketSender* buckets() { return nullptr; }

  /// The definitions as they were last read over this client (storage/catalog_store.h); null: not yet.
  std::shared_ptr<const LoadedCatalog> known_definitions;

  /// Returns the commits that replicas have not confirmed yet. Null: no replica confirms any.
  virtual UnreplicatedCommits* unreplicated() { return nullptr; }
};

class Subscription;

/// The ways to Redis of one thread: what operators get.
class RedisAccess {
 public:
  virtual ~RedisAccess() = default;
  /// For statements: short commands with bounded replies, shared by all sessions.
  virtual RedisClient& shared(int database) = 0;
  /// For bulk reads and loads, so that a scan never delays a lookup.
  virtual RedisClient& bulk(int database) = 0;
  /// The messages of a channel of Redis's publish/subscribe from now on, on a connection of their own. 0A000 where there can be none.
  virtual std::unique_ptr<Subscription> subscribe(std::string channel, std::function<void(std::string_view message)> take);
};

}  // namespace redquel::executor
