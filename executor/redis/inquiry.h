#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "executor/redis/socket_connect.h"
#include "executor/redis/url.h"
#include "executor/tls/tls_context.h"

namespace redquel::executor {

/// One question to several servers at once, each on a connection of its own. Kept alive by the coroutines that ask.
class Inquiry : public std::enable_shared_from_this<Inquiry> {
 public:
  struct Asked {
    TcpPlace place;
    RedisSocket socket;
    std::shared_ptr<Replies> replies;  // null: none yet, or none at all
    std::string failure;
  };

  /// A server that sends more than twice `most_bytes` is not listened to any longer.
  Inquiry(asio::any_io_executor executor, TlsContextPtr tls, CommandBatch question, std::span<const TcpPlace> places, std::size_t most_bytes);

  /// Waits until all have answered, at most for `patience`. `rest` is called after each answer: the time that the others still get, zero if no
  /// other answer is needed; nullopt: as long as before. Answers that come later are dropped.
  asio::awaitable<void> run(std::chrono::milliseconds patience, std::function<std::optional<std::chrono::milliseconds>()> rest);

  std::span<const Asked> asked() const { return asked_; }

 private:
  static asio::awaitable<void> ask(std::shared_ptr<Inquiry> self, std::size_t index);

  asio::any_io_executor executor_;
  TlsContextPtr tls_;
  CommandBatch question_;
  asio::steady_timer timer_;
  std::vector<Asked> asked_;
  std::size_t most_bytes_, open_ = 0;
  bool is_over_ = false;
};

}  // namespace redquel::executor
