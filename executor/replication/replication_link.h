#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/shared_connection.h"
#include "executor/redis/socket_connect.h"
#include "executor/replication/stream_parser.h"
#include "executor/tls/tls_session.h"

namespace redquel::executor {

/// A place in the replication stream of one Redis.
struct StreamPosition {
  std::string history;  // the replication id of the master
  std::uint64_t offset = 0;
};

/// Reads the replication stream of one Redis, as a replica that keeps nothing and acknowledges nothing: no commit waits for it, and sentinels do
/// not list it (replica_set.h).
class ReplicationLink : public std::enable_shared_from_this<ReplicationLink> {
 public:
  ReplicationLink(asio::any_io_executor executor, ConnectionOptions options);

  struct Attached {
    StreamPosition position;    // of the next byte
    bool is_continued = false;  // else it is another place than the one that was asked for
  };
  /// Connects and asks for the stream from a position on; nullopt: from now on. Throws SqlError 08006, 28000, 42501 if the user may not read the
  /// stream, 57P03.
  asio::awaitable<Attached> attach(std::optional<StreamPosition> position);
  /// Waits for more bytes of the stream and feeds the parser. Throws SqlError 08006.
  asio::awaitable<void> read_more();
  StreamParser& parser() { return parser_; }
  /// Ends the link; a wait throws.
  void close();

 private:
  asio::awaitable<void> open();
  asio::awaitable<void> write(CommandBatch commands);
  /// Appends received bytes to the input. Throws 08006 at the end.
  asio::awaitable<void> receive();
  asio::awaitable<std::string> read_line();
  asio::awaitable<void> skip_snapshot();
  static asio::awaitable<void> acknowledge(std::shared_ptr<ReplicationLink> self);
  static asio::awaitable<void> limit_attempt(std::shared_ptr<ReplicationLink> self);

  ConnectionOptions options_;
  RedisSocket socket_;
  asio::steady_timer acknowledgement_timer_, attempt_timer_;
  std::optional<TlsSession> tls_;
  std::string input_;  // received, and not yet of the parser
  std::vector<char> room_;
  std::string output_;  // being written
  StreamParser parser_;
  bool is_attached_ = false, is_closed_ = false;
};

}  // namespace redquel::executor
