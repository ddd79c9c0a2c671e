#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/redis/redis_login.h"
#include "executor/redis/server_info.h"
#include "executor/redis/unreplicated_commits.h"
#include "executor/redis/url.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

class MasterWatch;
class PendingBatch;
class Topology;

struct ConnectionOptions {
  RedisUrl url;
  /// Read at each attempt, so that its owner may change it. Null: the login of the URL, without TLS.
  std::shared_ptr<RedisLogin> login;
  /// Reports that the sentinels name another master. Null: the connection asks them only when it is made.
  std::shared_ptr<MasterWatch> master_watch;
  /// Which node has which slots. Null: `url` names no node of a cluster.
  std::shared_ptr<Topology> topology;
  /// How long a statement waits while slots move or masters are replaced.
  std::chrono::milliseconds move_timeout{60'000};
  /// Copies of the version key in several slots: each node of a cluster is asked for one that it has. Empty: none is asked.
  std::vector<std::string> node_version_keys;
  /// Returns a key of a bucket of the cluster, from which the bucket's scripts learn their tag. Empty: nothing is kept in buckets.
  std::function<std::string(int bucket)> bucket_key;
  /// The time limit of a statement's wait for a connection, and of an attempt to connect.
  std::chrono::milliseconds connect_timeout{5000};
  /// Pause after the first failed attempt; doubles, with jitter, up to the limit.
  std::chrono::milliseconds retry_pause{20};
  std::chrono::milliseconds retry_pause_limit{1000};
  /// Read at the end of every turn (Replies::catalog_version); empty: not read.
  std::string version_key = sql::home_key(sql::kVersionKey);
  /// Returns the version of definitions that are not in Redis, for Replies::catalog_version. Empty: they are in Redis.
  std::function<std::string()> own_version;
  /// The connection sends nothing but commands of @read and @connection.
  bool only_looks = false;
  /// The name in CLIENT LIST.
  std::string client_name = "redquel";
  /// A single reply larger than this ends the connection: a server that sends it is broken or hostile.
  std::size_t max_reply_bytes = std::size_t{1} << 30;
  /// After each start of a Redis with an append-only file, writes wait until the file has been rewritten (BGREWRITEAOF), see
  /// ServerInfo::may_append_to_torn_file.
  bool repairs_append_only_file = false;
  /// The number of replicas that must confirm each commit (WAIT); 0: none; nullopt: all that follow the server (replica_set.h).
  std::optional<int> synchronous_replicas;
  /// A commit that waits longer for replicas is given up (08007); 0: it waits without a limit.
  std::chrono::milliseconds replica_timeout{0};
  /// The commits that replicas have not confirmed yet; of all connections of a thread. Null: of this connection alone.
  std::shared_ptr<UnreplicatedCommits> unreplicated;
  /// Writes are refused (25006) while Redis may evict rows.
  bool refuses_eviction = false;
};

/// Returns the login that an attempt to connect uses.
inline RedisLogin current_login(const ConnectionOptions& options) {
  return options.login ? *options.login : RedisLogin{.user = options.url.user, .password = options.url.password, .tls = nullptr};
}

/// The state of a connection over its life, for metrics and tests.
struct ConnectionStatistics {
  std::uint64_t connects = 0;
  std::uint64_t turns = 0;  // writes handed to the socket
  std::uint64_t batches = 0;
  std::uint64_t commands = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::size_t held_writes = 0;  // batches that wait until Redis may be written

  ConnectionStatistics& operator+=(const ConnectionStatistics& other);
};

/// A pipelined connection to one logical database, shared by all sessions of its thread.
///
/// Batches that are executed during one turn of the event loop leave in one write, ended by one GET of the version key;
/// their callers continue when that GET has been answered. While a write is under way, the next turn gathers.
/// It connects at first use and reconnects by itself with back-off. Batches not yet written wait for the new
/// connection, those on their way fail with 08006. All calls must come from the executor's (single) thread.
class SharedConnection final : public RedisClient {
 public:
  SharedConnection(asio::any_io_executor executor, ConnectionOptions options);
  ~SharedConnection() override;  // as stop()
  SharedConnection(const SharedConnection&) = delete;
  SharedConnection& operator=(const SharedConnection&) = delete;

  asio::awaitable<RepliesPtr> execute(CommandBatch batch, ExecutionCounters* counters = nullptr) override;
  std::unique_ptr<RedisRequest> start(CommandBatch batch, ExecutionCounters* counters = nullptr) override;
  /// Sends the commands. `replies` of the batch stays null until they are written.
  std::shared_ptr<PendingBatch> submit(CommandBatch batch);
  /// Sends commands that are all of their statement: they need not wait for others of the same turn of the event loop.
  std::shared_ptr<PendingBatch> submit_alone(CommandBatch batch);
  std::uint64_t generation() const override;
  UnreplicatedCommits* unreplicated() override;
  SharedConnection* connection() override { return this; }

  /// Waits until the connection is usable; throws as `execute` does.
  asio::awaitable<void> ready();
  /// Returns the server's facts of the last connect; empty fields before the first.
  const ServerInfo& server() const;
  ConnectionStatistics statistics() const;
  /// Closes the connection and fails what waits with 57P01; no reconnect afterwards.
  void stop();
  /// Like stop(), with this error.
  void stop(const sql::SqlError& error);
  /// Reads another key as the version from now on; empty: none.
  void set_version_key(std::string key);

 private:
  class Core;
  /// Returns the core that the batch belongs to.
  Core& core_for(const CommandBatch& batch);

  std::shared_ptr<Core> core_;
  std::shared_ptr<Core> commits_;  // commits that replicas confirm, so that nothing else waits behind them; null: made at the first one
  std::optional<std::string> version_key_;  // that was set; nullopt: that of the options
};

}  // namespace redquel::executor
