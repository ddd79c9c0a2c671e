#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "executor/redis/sentinel.h"
#include "executor/redis/shared_connection.h"
#include "executor/redis/subscription.h"

namespace redquel::executor {

/// A connection to the master that the sentinels name.
class MasterFollower {
 public:
  virtual ~MasterFollower() = default;
  /// Closes the connection if it is one to another place.
  virtual void master_is_at(const TcpPlace& place) = 0;
};

/// Finds out for the connections of one thread when the sentinels name another master: it asks them every ten seconds, and at once when one of
/// them reports +switch-master. A message alone moves nothing; most sentinels must agree.
class MasterWatch : public std::enable_shared_from_this<MasterWatch> {
 public:
  /// `redis.url` has sentinels.
  static std::shared_ptr<MasterWatch> start(asio::any_io_executor executor, const ConnectionOptions& redis);

  void follow(std::weak_ptr<MasterFollower> follower);
  /// Asks the sentinels soon.
  void look();
  void stop();

 private:
  MasterWatch(asio::any_io_executor executor, const ConnectionOptions& redis);
  void subscribe(const ConnectionOptions& redis);
  static asio::awaitable<void> run(std::shared_ptr<MasterWatch> self);
  void report(const TcpPlace& place);

  asio::any_io_executor executor_;
  RedisUrl url_;
  std::shared_ptr<RedisLogin> login_;
  asio::steady_timer timer_;
  std::vector<std::weak_ptr<MasterFollower>> followers_;
  std::vector<std::unique_ptr<Subscription>> subscriptions_;
  std::optional<TcpPlace> reported_;  // the master of the last report
  bool must_look_ = false, is_asking_ = false, stopped_ = false;
};

}  // namespace redquel::executor
