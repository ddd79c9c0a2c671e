#pragma once

#include <memory>
#include <string>

#include "executor/memory/keeper.h"
#include "executor/redis/shared_connection.h"

namespace redquel::executor {

/// The thread of all keepers of a process. Its connections do little else than read, so that Redis never has to hold their messages.
class KeeperThread {
 public:
  KeeperThread();
  ~KeeperThread();  // all keepers end
  KeeperThread(const KeeperThread&) = delete;
  KeeperThread& operator=(const KeeperThread&) = delete;

  asio::any_io_executor executor() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

/// A keeper that reads changed keys by CLIENT TRACKING in BCAST mode (RESP3), and passes fences by a write of its own. It connects at first
/// use. `options.url.database` is its logical database.
class TrackingKeeper final : public Keeper {
 public:
  TrackingKeeper(asio::any_io_executor executor, ConnectionOptions options);
  ~TrackingKeeper() override;

  asio::awaitable<std::string> observe(std::string prefix, std::shared_ptr<KeyObserver> observer) override;
  void unobserve(const KeyObserver& observer) override;
  asio::awaitable<Fence> fence(std::vector<FencedTable> tables) override;
  std::string fence_key() const override;
  std::string fence_value() const override;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace redquel::executor
