#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "executor/redis/client.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Removes what expired rows have left in the indexes of one logical database, every second while it lives. Of several processes and
/// threads over one Redis one does so at a time (`redquel:sweep`, which expires); each step is complete in itself, so that one that is
/// killed leaves the rest to the next.
class RowSweeper {
 public:
  explicit RowSweeper(RedisClient& redis);
  ~RowSweeper();
  RowSweeper(const RowSweeper&) = delete;
  RowSweeper& operator=(const RowSweeper&) = delete;

  /// Goes on in a coroutine of its own on the caller's executor; a second start is nothing.
  asio::awaitable<void> start();

 private:
  struct State;
  static asio::awaitable<void> keep(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace redquel::executor
