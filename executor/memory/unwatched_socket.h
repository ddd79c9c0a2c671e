#pragma once

#include "executor/redis/socket_connect.h"

namespace redquel::executor {

/// Takes a socket out of the event loop's sight for a while. A watched socket wakes the thread for every message that arrives, although nothing
/// reads it; that costs the sender, too.
class UnwatchedSocket {
 public:
  /// `socket` outlives this.
  explicit UnwatchedSocket(RedisSocket& socket) : socket_(socket) {}
  ~UnwatchedSocket() { watch(); }
  UnwatchedSocket(const UnwatchedSocket&) = delete;
  UnwatchedSocket& operator=(const UnwatchedSocket&) = delete;

  /// Without effect for a closed socket. No operation of the socket may be under way.
  void unwatch();
  /// Before the socket is used again or closed.
  void watch();
  /// Returns true if a read would not wait: there are bytes, or the connection has ended.
  bool has_bytes() const;

 private:
  RedisSocket& socket_;
  int handle_ = -1;  // of the socket while the event loop does not watch it
  asio::generic::stream_protocol protocol_{0, 0};
};

}  // namespace redquel::executor
