#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "executor/redis/client.h"
#include "executor/redis/redis_login.h"
#include "sql/error.h"

namespace redquel::executor {

struct RedisUsers;

/// Hooks by which a pool of connections serves Redis users other than redquel's own login.
class RedisLogins {
 public:
  virtual ~RedisLogins() = default;
  /// Returns a connection that logs in as another Redis user. It is closed when it is destroyed.
  virtual std::unique_ptr<RedisClient> log_in(const RedisLogin& login, int database, std::string_view purpose) = 0;
  /// Returns a connection on which a batch may change the Redis user: each batch begins with AUTH as redquel's own login.
  virtual RedisClient& switching(int database) = 0;
  virtual const RedisLogin& own_login() const = 0;
  /// The users of the thread.
  virtual RedisUsers& users() = 0;
};

/// Returns the logins of a way to Redis. 0A000 if it has none.
RedisLogins& logins_of(RedisAccess& access);

/// A Redis user other than redquel's own login, with connections of his own, made at first use. They are closed with the object.
class RedisUser {
 public:
  /// `own`: redquel's own ways to Redis.
  RedisUser(RedisAccess& own, std::string name, std::string password);

  RedisClient& shared(int database) { return connection(database, "-user"); }
  RedisClient& bulk(int database) { return connection(database, "-user-bulk"); }
  RedisAccess& own() { return own_; }
  const RedisLogin& login() const { return login_; }
  const std::string& name() const { return login_.user; }
  /// Returns true if Redis has refused the login. The password may have been changed since it was read.
  bool is_refused() const { return *is_refused_; }
  /// True if Redis accepts any password of the user; nullopt: not tried.
  std::optional<bool> takes_any_password;

 private:
  RedisClient& connection(int database, std::string_view purpose);

  RedisAccess& own_;
  RedisLogin login_;
  std::shared_ptr<bool> is_refused_ = std::make_shared<bool>(false);
  std::map<std::pair<int, std::string_view>, std::unique_ptr<RedisClient>> connections_;
};

using RedisUserPtr = std::shared_ptr<RedisUser>;

/// The Redis users of user mappings that have connections.
struct RedisUsers {
  struct Entry {
    RedisUserPtr user;
    std::string catalog_version;  // under which the password was read
    std::chrono::steady_clock::time_point last_use;
  };
  std::map<std::pair<int, std::uint32_t>, Entry> entries;  // by logical database and oid of the mapping
  std::shared_ptr<asio::steady_timer> timer;               // of those that close idle ones; null: none has connections
};

/// Returns 08001 with Redis's reason.
sql::SqlError login_refused(std::string_view reason);

}  // namespace redquel::executor
