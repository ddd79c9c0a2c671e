#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "executor/redis/shared_connection.h"

namespace redquel::executor {

/// The messages of one channel of Redis's publish/subscribe, on a connection of its own, which reconnects by itself: what was published
/// while there was none is lost. Belongs to one thread.
class Subscription {
 public:
  /// Gets each message, on the executor's thread.
  using Handler = std::function<void(std::string_view message)>;

  Subscription(asio::any_io_executor executor, ConnectionOptions options, std::string channel, Handler handler);
  ~Subscription();
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  /// Waits until Redis has confirmed it: what is published from then on arrives. 08006 where that takes longer than
  /// `connect_timeout`, and what Redis says where it refuses.
  asio::awaitable<void> ready();
  /// Waits until the handler has got every message that was published before this call, or the connection is lost.
  asio::awaitable<void> catch_up();

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace redquel::executor
