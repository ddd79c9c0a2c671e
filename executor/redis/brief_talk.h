#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "executor/redis/socket_connect.h"
#include "executor/redis/url.h"
#include "executor/tls/tls_context.h"

namespace redquel::executor {

/// Connects a (closed) socket, sends the commands and returns their replies. A server that sends more than twice `most_bytes` is not listened to
/// any longer: there may be fewer replies than commands. Throws std::exception with the reason. Closing the socket from elsewhere ends the talk.
asio::awaitable<std::shared_ptr<Replies>> talk_briefly(RedisSocket& socket, TcpPlace place, TlsContextPtr tls, CommandBatch commands,
                                                       std::size_t most_bytes);

}  // namespace redquel::executor
