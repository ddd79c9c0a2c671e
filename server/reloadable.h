#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/redis/redis_login.h"
#include "executor/tls/tls_context.h"
#include "server/authentication/rule_set.h"
#include "server/session.h"

namespace redquel::server {

/// The part of the configuration that a reload replaces. Sessions keep what they began with, but for parameters of the kind `sighup`.
struct Reloadable {
  SessionLimits limits;
  RuleSetPtr rules;           // of logins; null: the built-in ones
  executor::TlsContextPtr tls;         // towards clients; null: none
  executor::TlsContextPtr status_tls;  // of the status page, with the same certificate; null: none
  std::optional<executor::RedisLogin> redis;  // of the next connections; none: as it is
  /// Run-time parameters whose value in the file has changed since the start, where only a restart takes it over.
  std::vector<std::string> pending_restart;
};

}  // namespace redquel::server
