#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace redquel::executor {

struct TcpPlace {
  std::string host;
  std::uint16_t port = 6379;
};

struct UnixPlace {
  std::string path;
};

/// Where a Redis is and how to log in.
struct RedisUrl {
  std::variant<TcpPlace, UnixPlace> place;
  std::string user;      // empty: the default user
  std::string password;  // empty: no AUTH
  int database = 0;
  bool tls = false;  // rediss://

  /// For messages and logs: "127.0.0.1:6379" or "/run/redis.sock", never with the password.
  std::string address() const;
};

/// `redis://[[user]:password@]host[:port][/db]`, `rediss://` for the same within TLS, `unix://[[user]:password@]/path.sock[?db=N]`; %HH is decoded
/// everywhere, an IPv6 host stands in brackets. Throws SqlError 22023 that says what is wrong (never showing the
/// password).
RedisUrl parse_redis_url(std::string_view text);

}  // namespace redquel::executor
