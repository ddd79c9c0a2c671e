#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "executor/redis/client.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// A look at the buckets of a cluster each second, which brings commits to their end whose process was killed. Other processes do the same.
class CommitSweeper {
 public:
  explicit CommitSweeper(RedisClient& redis);
  ~CommitSweeper();
  CommitSweeper(const CommitSweeper&) = delete;
  CommitSweeper& operator=(const CommitSweeper&) = delete;

  /// Begins the looks, once. Without effect on one Redis.
  asio::awaitable<void> start();

 private:
  struct State;
  static asio::awaitable<void> keep(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace redquel::executor
