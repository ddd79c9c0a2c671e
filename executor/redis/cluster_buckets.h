#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/redis/bucket_sender.h"
#include "executor/redis/cluster_nodes.h"

namespace redquel::executor {

/// Sends scripts to the buckets of a cluster. The scripts of one node leave in one write; one WAIT behind them, on the same connection, counts
/// for all. What a node says that it has not run is sent again, with its WAIT, until `move_timeout` is over.
class ClusterBuckets final : public BucketSender {
 public:
  /// `nodes`: connections for these scripts alone: whatever stands behind a WAIT waits, too. `key_of`: returns a key of the bucket.
  ClusterBuckets(asio::any_io_executor executor, std::shared_ptr<ClusterNodes> nodes, std::function<std::string(int bucket)> key_of,
                 std::chrono::milliseconds move_timeout)
      : executor_(std::move(executor)), nodes_(std::move(nodes)), key_of_(std::move(key_of)), move_timeout_(move_timeout) {}

  asio::awaitable<std::vector<BucketAnswer>> run(std::vector<BucketCall> calls) override;
  bool is_closed() const override { return nodes_->is_closed(); }

 private:
  asio::any_io_executor executor_;
  std::shared_ptr<ClusterNodes> nodes_;
  std::function<std::string(int bucket)> key_of_;
  std::chrono::milliseconds move_timeout_;
};

}  // namespace redquel::executor
