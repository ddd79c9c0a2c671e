#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "executor/redis/socket_connect.h"
#include "executor/tls/tls_session.h"
#include "sql/error.h"

namespace redquel::executor {

/// The reason why a handshake fails that gets no answer.
inline constexpr std::string_view kTlsTimeout = "timeout of the TLS handshake; is this a port for TLS?";

struct TlsHandshakeResult {
  std::optional<sql::SqlError> error;  // 28000 if the certificate of Redis is not trusted, otherwise 08006
  bool is_lasting = false;             // asking again at once is pointless
};

/// Makes TLS on a connected socket. Closing the socket from elsewhere ends the attempt.
asio::awaitable<TlsHandshakeResult> shake_tls_hands(RedisSocket& socket, TlsSession& session, std::string address);

}  // namespace redquel::executor
