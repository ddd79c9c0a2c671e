#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/redis/handshake.h"
#include "executor/redis/pending_batch.h"
#include "executor/redis/resp_codec.h"
#include "executor/redis/shared_connection.h"
#include "executor/redis/socket_connect.h"

namespace redquel::executor {

/// The machinery of a SharedConnection. Kept alive by the operations under way, so that the connection can be dropped
/// at any time.
class SharedConnection::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(asio::any_io_executor executor, ConnectionOptions options);

  void enqueue(std::shared_ptr<PendingBatch> pending);
  void stop();

  const ServerInfo& server() const { return server_; }
  const ConnectionStatistics& statistics() const { return statistics_; }
  std::uint64_t generation() const { return generation_; }

 private:
  enum class State { idle, connecting, ready, stopped };

  /// What left in one write: batches whose replies are still expected, in order, and the version behind them.
  struct Turn {
    std::vector<std::shared_ptr<PendingBatch>> batches;
    std::size_t current = 0;
    std::unique_ptr<Replies> version;
  };

  // The life of the connection: one coroutine from first use to stop().
  static asio::awaitable<void> run(std::shared_ptr<Core> self);
  asio::awaitable<std::optional<sql::SqlError>> connect();
  asio::awaitable<std::optional<sql::SqlError>> shake_hands();
  asio::awaitable<std::string> read_until_lost();
  asio::awaitable<void> pause_before_retry();
  void close_socket();

  // Writing.
  void post_flush();
  void flush();
  void written(boost::system::error_code error, std::uint64_t connection);

  // Reading.
  void take_replies(std::string_view bytes);
  bool take_reply();
  void finish_turn();

  // Batches that wait for a connection.
  void became_ready();
  void lost(const std::string& reason);
  void arm_deadline();
  void fail_overdue();
  void fail_all(std::deque<std::shared_ptr<PendingBatch>>& batches, const sql::SqlError& error);

  ConnectionOptions options_;
  RedisSocket socket_;
  asio::steady_timer retry_timer_;     // between two attempts
  asio::steady_timer attempt_timer_;   // limits an attempt
  asio::steady_timer deadline_timer_;  // of the batch that has waited longest for a connection
  State state_ = State::idle;
  std::optional<sql::SqlError> last_error_;  // of the last attempt
  std::chrono::milliseconds retry_pause_;

  std::deque<std::shared_ptr<PendingBatch>> waiting_;  // not yet written
  std::deque<Turn> turns_;                             // written, replies expected
  std::string output_;                                 // being written; must not move meanwhile
  std::string version_command_;
  bool flush_posted_ = false;
  bool writing_ = false;

  std::unique_ptr<ReplyDecoder> decoder_;
  std::vector<char> input_;

  ServerInfo server_;
  ConnectionStatistics statistics_;
  std::uint64_t generation_ = 0;
};

}  // namespace redquel::executor
