#pragma once

#include <string>

#include "executor/tls/tls_context.h"

namespace redquel::executor {

/// The login of a connection to Redis. A reload of the configuration may change it for later connections.
struct RedisLogin {
  std::string user;      // empty: the default user
  std::string password;  // empty: no AUTH
  TlsContextPtr tls;     // null: the connection is not encrypted
};

}  // namespace redquel::executor
