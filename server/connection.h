#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <span>
#include <string>
#include <string_view>

#include "server/connection_security.h"
#include "sql/connection_hooks.h"

namespace redquel::server {

namespace asio = boost::asio;

/// The client is gone, or its socket was closed under it: nobody to tell.
struct Disconnected {};

/// The socket of one client. The place where TLS will be wrapped around it.
class Connection {
 public:
  explicit Connection(asio::ip::tcp::socket socket);

  /// Waits for bytes; at least one. Throws Disconnected at the end of the stream or on an error; after `interrupt` it
  /// gives 0. A cancellation of the calling coroutine does not touch it.
  asio::awaitable<std::size_t> read_some(std::span<char> room);
  /// Sends all of it; waits while the client does not read. No cancellation stops it half-way, as that would cut a
  /// message; only `close` does. Throws Disconnected.
  asio::awaitable<void> write(std::string_view bytes);
  /// Sends what the socket's buffer takes, which is most answers: no turn of the event loop is spent. The rest is for `write`.
  std::string_view write_at_once(std::string_view bytes);

  /// Ends a waiting `read_some`.
  void interrupt();
  bool reading() const { return reading_; }
  /// Whether the client has closed its side (or the connection was reset), unread bytes or not.
  bool peer_closed() const;
  /// Ends everything that waits with Disconnected.
  void close();
  /// Tells the client that nothing more comes, after what was written.
  void shut_down();

  asio::any_io_executor executor() { return socket_.get_executor(); }
  const ConnectionSecurity& security() const { return security_; }
  std::string peer_address() const { return peer_address_; }
  /// Both ends; without a query.
  const sql::ConnectionFacts& facts() const { return facts_; }

 private:
  asio::ip::tcp::socket socket_;
  std::string peer_address_;
  sql::ConnectionFacts facts_;
  ConnectionSecurity security_;
  bool reading_ = false;
  bool interrupted_ = false;
};

}  // namespace redquel::server
