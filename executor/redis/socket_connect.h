#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/system/error_code.hpp>

#include "executor/redis/url.h"

namespace redquel::executor {

namespace asio = boost::asio;

using RedisSocket = asio::generic::stream_protocol::socket;

/// Connects a (closed) socket. TCP: the addresses of the host in turn, TCP_NODELAY, and a dead peer is noticed within a
/// minute. Unix: paths longer than a socket address has room for (107 bytes) work too.
/// Closing the socket from elsewhere ends the attempt.
asio::awaitable<boost::system::error_code> connect_socket(RedisSocket& socket, RedisUrl url);

}  // namespace redquel::executor
