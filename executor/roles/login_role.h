#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/redis/client.h"
#include "sql/catalog/role_set.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// A role as a login needs it.
struct LoginRole {
  sql::Oid oid = 0;
  std::string name;
  bool superuser = false, can_login = false;
  std::int32_t connection_limit = -1;       // -1: none
  std::optional<std::int64_t> valid_until;  // of the password: µs since 2000-01-01 UTC; absent: for ever
  std::string verifier;                     // PostgreSQL's text; empty: no password
  /// Names of the roles that it is a member of, itself first, for `+role` and `samerole`. A superuser has no others than it was granted.
  std::vector<std::string> memberships;
  /// ALTER ROLE … SET and ALTER DATABASE … SET: parameters and values in the order in which a session takes them.
  std::vector<std::pair<std::string, std::string>> settings;
};

/// The home database's answer to a login.
struct LoginFacts {
  bool has_roles = false;      // false: Redis was emptied, or is another one; every login is refused until `redquel init`
  bool has_verifiers = false;  // some role has a password: protected mode is over
  bool has_superuser_verifier = false;  // a superuser who may log in has one
  std::string mock_nonce;      // for mock verifiers
  sql::DatabaseFacts database; // of the database that is asked for: its owner and connection limit
  sql::RoleSetPtr roles;       // all of them, for SessionState::roles
  std::optional<LoginRole> role;  // absent: no role has the name, or its entry is damaged
};

/// Reads the role from the home database. Two round trips, or three if roles have changed since this thread's last login. Throws SqlError.
asio::awaitable<LoginFacts> read_login_role(RedisClient& home, std::string name, std::string database);

}  // namespace redquel::executor
