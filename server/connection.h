#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "executor/tls/tls_context.h"
#include "server/client_socket.h"
#include "server/connection_security.h"
#include "sql/connection_hooks.h"

namespace redquel::executor {
class TlsSession;
}

namespace redquel::server {

namespace asio = boost::asio;

/// The client is gone, or its socket was closed: no answer can be sent.
struct Disconnected {};

/// A handshake that failed: the client gets an alert of TLS and no message.
struct TlsRefusal {
  std::string reason;
};

/// The socket of one client, TCP or unix, with TLS inside of it from `begin_tls` on.
class Connection {
 public:
  explicit Connection(ClientSocket socket, ClientOrigin origin = ClientOrigin::kNetwork);
  Connection(Connection&&) noexcept;
  ~Connection();

  /// Waits for bytes; at least one. Throws Disconnected at the end of the stream or on an error; after `interrupt` it
  /// gives 0. A cancellation of the calling coroutine does not touch it.
  asio::awaitable<std::size_t> read_some(std::span<char> room);
  /// Sends what the socket's buffer takes, which is most answers: no turn of the event loop is spent. Returns true if that is all. Otherwise
  /// `finish_write` sends the rest, and the bytes stay where they are until it has returned.
  bool write_at_once(std::string_view bytes);
  /// Waits while the client does not read. No cancellation stops it half-way, as that would cut a message; only `close` does. Throws
  /// Disconnected.
  asio::awaitable<void> finish_write();
  /// Sends all of it, as the two above do.
  asio::awaitable<void> write(std::string_view bytes);

  /// The bytes that come from now on are TLS, `first` among them.
  void begin_tls(executor::TlsContextPtr context, std::string_view first);
  /// Continues the handshake: answers the client's bytes, and reads once if they do not complete it. Returns true once it is complete;
  /// `security().tls` then describes it. Throws TlsRefusal, and Disconnected; `interrupt` ends the wait.
  asio::awaitable<bool> shake_hands();
  bool is_encrypted() const { return tls_ != nullptr; }
  /// Returns true if the client has agreed to speak PostgreSQL's protocol within TLS (ALPN).
  bool has_application_protocol() const;

  /// Ends a waiting `read_some`.
  void interrupt();
  bool reading() const { return reading_; }
  /// Returns true if the client has closed its side (or the connection was reset), even with unread bytes.
  bool peer_closed() const;
  /// Ends everything that waits with Disconnected.
  void close();
  /// Announces the end of the stream to the client, after the written bytes.
  void shut_down();

  asio::any_io_executor executor() { return socket_.get_executor(); }
  const ConnectionSecurity& security() const { return security_; }
  /// For logs: an address, "[local]" for unix sockets.
  const std::string& peer_address() const { return peer_address_; }
  /// Both ends; without a query.
  const sql::ConnectionFacts& facts() const { return facts_; }

 private:
  void find_tcp_ends();
  void find_unix_peer();
  /// Waits until the socket has bytes. Returns false after `interrupt`.
  asio::awaitable<bool> wait_readable();
  /// Feeds the TLS session with what the socket has by now. Returns false if that is nothing. Throws Disconnected.
  bool feed_tls();
  asio::awaitable<std::size_t> read_encrypted(std::span<char> room);
  /// The bytes that the socket takes next, of a large answer a piece.
  std::string_view next_bytes();
  void note_sent(std::size_t count);
  bool send_some();
  void take_tls_facts();

  ClientSocket socket_;
  std::unique_ptr<executor::TlsSession> tls_;
  std::string_view unsent_;      // of the caller's bytes; with TLS, not yet encrypted
  std::size_t output_sent_ = 0;  // bytes of the TLS session's output
  std::string peer_address_;
  ConnectionSecurity security_;
  sql::ConnectionFacts facts_;
  bool reading_ = false;
  bool interrupted_ = false;
};

}  // namespace redquel::server
