#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "executor/redis/client.h"
#include "executor/redis/cluster_nodes.h"
#include "executor/redis/cluster_scan.h"

namespace redquel::executor {

/// SINTER, SINTERCARD, SUNION and SDIFF over sets in several slots. The members of the smallest set (of all sets for SUNION, of the first one for
/// SDIFF) are read, and looked up in the others. The sets are not of one moment. One reply, or the error reply that a set gave.
asio::awaitable<RepliesPtr> run_set_algebra(RedisClient& client, std::span<const std::string> words, ExecutionCounters* counters);

/// Commands without keys that concern all masters of a cluster.
class ClusterScans : public std::enable_shared_from_this<ClusterScans> {
 public:
  ClusterScans(asio::any_io_executor executor, std::shared_ptr<ClusterNodes> nodes, std::chrono::milliseconds move_timeout)
      : executor_(std::move(executor)), nodes_(std::move(nodes)), move_timeout_(move_timeout) {}

  /// One page of SCAN. Throws 57P03 if a master does not answer for `move_timeout`, 54000 if the scan of the cursor was forgotten for others.
  asio::awaitable<RepliesPtr> scan(std::span<const std::string> words, ExecutionCounters* counters);
  /// A command at all masters: the sum of integers, texts and arrays one behind the other (DBSIZE, CLIENT LIST, SLOWLOG GET, LATENCY LATEST).
  asio::awaitable<RepliesPtr> gather(std::span<const std::string> words, ExecutionCounters* counters);
  /// A key of any master; nil if there is none.
  asio::awaitable<RepliesPtr> random_key(ExecutionCounters* counters);

 private:
  struct Patience;
  asio::awaitable<std::vector<NodeSlots>> placement();
  /// The reply of the node to one command. Null: it is no master any longer.
  asio::awaitable<RepliesPtr> ask(TcpPlace place, CommandBatch command, Patience& patience, ExecutionCounters* counters);

  asio::any_io_executor executor_;
  std::shared_ptr<ClusterNodes> nodes_;
  std::chrono::milliseconds move_timeout_;
  std::map<std::uint64_t, std::shared_ptr<ClusterScan>> scans_;
  std::uint64_t next_scan_ = 1;
};

}  // namespace redquel::executor
