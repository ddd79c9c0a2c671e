#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/placed_table.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// A walk over the locks and waits in Redis that removes those of one process whose transaction or session has ended, and those of processes
/// whose lease has ended. A call whose reply got lost, or that arrived late, may have left them, or a process that was killed.
class LockSweep {
 public:
  using Tables = std::function<std::vector<PlacedTable>()>;
  using IsLiving = std::function<bool(std::string_view token)>;

  /// `tables`: those whose locks are looked at.
  LockSweep(RedisClient& redis, Tables tables) : redis_(redis), tables_(std::move(tables)) {}

  /// Takes some steps of the walk, and begins a new one at its end. Throws as RedisClient::execute does.
  asio::awaitable<void> run(std::string process, IsLiving is_living);
  /// Begins the next walk with the first table.
  void start_over() { keys_.clear(); }
  /// Looks at no table any more.
  void stop() { tables_ = nullptr; }

 private:
  asio::awaitable<void> list_keys();
  /// Returns those of some processes that have no lease in the bucket of the key.
  asio::awaitable<std::set<std::string, std::less<>>> find_dead(std::string key, std::set<std::string, std::less<>> processes);
  asio::awaitable<void> take_step(const std::string& process, const IsLiving& is_living);

  RedisClient& redis_;
  Tables tables_;
  std::vector<std::string> keys_;  // that are left of the walk
  std::string cursor_ = "0";       // in the last of them
};

}  // namespace redquel::executor
