#pragma once

#include <string>

#include "executor/tls/tls_context.h"

namespace redquel::executor {

/// What a connection to Redis needs besides its address. A reload of the configuration may change it for connections to come.
struct RedisLogin {
  std::string user;      // empty: the default user
  std::string password;  // empty: no AUTH
  TlsContextPtr tls;     // null: the connection is not encrypted
};

}  // namespace redquel::executor
