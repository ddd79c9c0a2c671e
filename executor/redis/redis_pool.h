#pragma once

#include <map>
#include <memory>
#include <utility>

#include "executor/redis/client.h"
#include "executor/redis/shared_connection.h"

namespace redquel::executor {

/// The connections of one thread: per logical database one for statements and one for bulk reads, made at first use.
class RedisPool final : public RedisAccess {
 public:
  /// `options.url.database` is that of the default database; the others share everything else.
  RedisPool(asio::any_io_executor executor, ConnectionOptions options);

  SharedConnection& shared(int database) override;
  SharedConnection& bulk(int database) override;
  std::unique_ptr<Subscription> subscribe(std::string channel, std::function<void(std::string_view message)> take) override;
  /// Connections that are made from now on log in so.
  void change_login(const RedisLogin& login) { *options_.login = login; }
  int default_database() const { return options_.url.database; }

  /// Sum over all connections.
  ConnectionStatistics statistics() const;
  void stop();

 private:
  enum class Purpose { statements, bulk };
  SharedConnection& connection(int database, Purpose purpose);

  asio::any_io_executor executor_;
  ConnectionOptions options_;
  std::map<std::pair<int, Purpose>, std::unique_ptr<SharedConnection>> connections_;
};

}  // namespace redquel::executor
