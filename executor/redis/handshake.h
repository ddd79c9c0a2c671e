#pragma once

#include <optional>

#include "executor/redis/command_batch.h"
#include "executor/redis/redis_login.h"
#include "executor/redis/reply.h"
#include "executor/redis/server_info.h"
#include "executor/redis/url.h"
#include "sql/error.h"

namespace redquel::executor {

/// Returns the first commands of a new connection, in one pipeline: login, database, name, INFO and the trial calls that find out the
/// user's rights (redquel needs no right that it does not use: a read-only ACL user serves reads). `only_looks`: HELLO instead of INFO and
/// the trial calls, which are not of @connection.
CommandBatch handshake_commands(const RedisUrl& url, const RedisLogin& login, std::string_view client_name, bool only_looks = false);

/// The result of the handshake. Pure: bytes in, value out.
struct HandshakeResult {
  ServerInfo server;
  std::optional<sql::SqlError> error;
  /// Asking again at once is pointless: wrong password, no such database, too old a Redis.
  bool is_lasting = false;
};

/// `replies` answers handshake_commands(url, …), and may be shorter when Redis hung up in between.
HandshakeResult read_handshake(const RedisUrl& url, const Replies& replies);

}  // namespace redquel::executor
