#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <optional>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "executor/redis/socket_connect.h"
#include "executor/redis/url.h"
#include "executor/tls/tls_context.h"
#include "executor/tls/tls_session.h"

namespace redquel::executor {

/// One connection to one server, which is never made again: WATCH and WAIT count from its own commands. Closing the socket from elsewhere ends
/// the talk. All functions throw std::exception with the reason.
class NodeTalk {
 public:
  /// `socket`: closed; it outlives the talk.
  explicit NodeTalk(RedisSocket& socket) : socket_(socket) {}

  asio::awaitable<void> open(TcpPlace place, TlsContextPtr tls);
  /// Sends the commands and returns their replies. A server that sends more than twice `most_bytes` is not listened to any longer: there may
  /// be fewer replies than commands.
  asio::awaitable<std::shared_ptr<Replies>> ask(CommandBatch commands, std::size_t most_bytes);

 private:
  RedisSocket& socket_;
  std::optional<TlsSession> tls_;
};

/// Connects a (closed) socket, sends the commands and returns their replies, as NodeTalk does.
asio::awaitable<std::shared_ptr<Replies>> talk_briefly(RedisSocket& socket, TcpPlace place, TlsContextPtr tls, CommandBatch commands,
                                                       std::size_t most_bytes);

}  // namespace redquel::executor
