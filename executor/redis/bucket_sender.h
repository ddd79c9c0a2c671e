#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "executor/redis/reply.h"
#include "executor/redis/script.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// One script at one bucket.
struct BucketCall {
  int bucket;
  const Script* script;
  std::vector<std::string> keys;  // the sender puts a key of the bucket in front
  std::vector<std::string> arguments;
  bool waits = false;  // for all replicas of the bucket's master
};

struct BucketAnswer {
  /// One reply. Null: the connection was lost, or the bucket could not be reached in time. The script may have run, or may still run.
  RepliesPtr replies;
  /// The script has run here, and WAIT on its connection has counted all replicas. A master without replicas confirms at once.
  bool is_confirmed = false;
};

/// The way to the buckets of a cluster. The client of the cluster implements it.
class BucketSender {
 public:
  virtual ~BucketSender() = default;
  /// Sends all calls at once, and gives their answers in the same order. MOVED, TRYAGAIN, CLUSTERDOWN, LOADING, READONLY, NOREPLICAS and
  /// MISCONF say that the script has not run: the sender sends it again, with its WAIT, until a time of its own is over. Throws if nothing was
  /// sent: 08006, 28000, 42501, 53200, 57P01.
  virtual asio::awaitable<std::vector<BucketAnswer>> run(std::vector<BucketCall> calls) = 0;
  /// Returns the time since a fixed moment. It does not stand still while the machine sleeps.
  virtual std::chrono::milliseconds now() const;
  /// Returns true once this process ends: nothing is sent any more.
  virtual bool is_closed() const { return false; }
};

}  // namespace redquel::executor
