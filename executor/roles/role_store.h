#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/redis/client.h"
#include "sql/catalog/role_set.h"

namespace redquel::executor {

namespace asio = boost::asio;

// The roles of all databases lie in the home database (that of the URL):
//   redquel:roles      HASH    role:<oid>, member:<role>:<member>, setting:<database>:<role>, database:<name> → JSON; version; next_oid
//   redquel:verifiers  HASH    role oid → SCRAM-SHA-256$… or md5…; read at login and by superusers alone
//   redquel:mock_nonce STRING  random: the salts that names without a role show

inline constexpr std::string_view kRolesKey = "redquel:roles", kVerifiersKey = "redquel:verifiers", kMockNonceKey = "redquel:mock_nonce";

/// Adds the command that reads all roles; `decode_role_set` reads its reply.
void append_role_fetch(CommandBatch& batch);
sql::RoleSetPtr decode_role_set(const Replies& replies, std::size_t index);

/// Makes role postgres and the mock nonce unless there are roles. Returns true if it did. Throws SqlError (a read-only Redis: 25006).
asio::awaitable<bool> create_first_role(RedisClient& home);

/// What one statement does to roles.
struct RoleChange {
  std::vector<std::pair<std::string, std::string>> set_fields;  // of redquel:roles
  std::vector<std::string> deleted_fields;
  std::vector<std::pair<sql::Oid, std::string>> verifiers;
  std::vector<sql::Oid> dropped_verifiers;

  bool empty() const { return set_fields.empty() && deleted_fields.empty() && verifiers.empty() && dropped_verifiers.empty(); }
};

/// Applies the change by one script, unless the roles have moved since `base` (false). The definitions' version moves in every database,
/// so that all processes see the change at their next statement.
asio::awaitable<bool> commit_roles(RedisClient& home, const sql::RoleSet& base, RoleChange change);

}  // namespace redquel::executor
