#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace redquel::executor {

struct TcpPlace {
  std::string host;
  std::uint16_t port = 6379;

  bool operator==(const TcpPlace&) const = default;
  /// Returns "127.0.0.1:6379" or "[::1]:6379".
  std::string address() const;
};

struct UnixPlace {
  std::string path;
};

/// The sentinels that know where the master is.
struct SentinelGroup {
  std::vector<TcpPlace> places;  // not empty
  std::string master;            // the name under which they watch it
  std::string user, password;    // of the login to the sentinels; empty: none
};

/// Where a Redis is and how to log in.
struct RedisUrl {
  std::variant<TcpPlace, UnixPlace> place;  // unused if there are sentinels or nodes of a cluster
  std::optional<SentinelGroup> sentinels;
  std::vector<TcpPlace> cluster;  // nodes that know the others; empty: not a cluster
  std::string user;      // empty: the default user
  std::string password;  // empty: no AUTH
  int database = 0;
  bool tls = false;          // rediss://
  bool is_sentinel = false;  // the place of one of the sentinels of another URL
  bool is_node = false;      // the place of one of the nodes of a cluster

  /// For messages and logs: "127.0.0.1:6379", "/run/redis.sock" "master mymaster (sentinels h1:26379, h2:26379)" or "cluster h1:7001, h2:7002", never
  /// with a password.
  std::string address() const;
};

/// `redis://[[user]:password@]host[:port][/db]`, `rediss://` for the same within TLS, `unix://[[user]:password@]/path.sock[?db=N]`; %HH is decoded
/// everywhere, an IPv6 host stands in brackets. `sentinel://[[user]:password@]host[:port],…/master[?db=N][&sentinel_user=…][&sentinel_password=…]`,
/// `rediss+sentinel://` for the same within TLS. `cluster://[[user]:password@]host[:port],…`, `rediss+cluster://` for the same within TLS.
/// Throws SqlError 22023 that says what is wrong (never showing the password).
RedisUrl parse_redis_url(std::string_view text);

}  // namespace redquel::executor
