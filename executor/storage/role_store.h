#pragma once

#include <boost/asio/awaitable.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/definition_parts.h"
#include "sql/catalog/role_set.h"

namespace redquel::executor {

namespace asio = boost::asio;

// The roles of all databases lie in the home database (that of the URL): sql/catalog/stored_keys.h.

/// The way of this thread to the home database, and the number of that; null: there is none, roles are the built-in ones.
struct HomeDatabase {
  RedisClient* client = nullptr;
  int number = 0;
};
HomeDatabase& home_database();

/// Makes the roles of now those that the thread knows (sql::known_roles()). Called after the version of a catalog has been read: a later
/// change of roles moves it.
asio::awaitable<void> refresh_known_roles();

/// Adds the command that reads all roles; `decode_role_set` reads its reply.
void append_role_fetch(CommandBatch& batch);
sql::RoleSetPtr decode_role_set(const Replies& replies, std::size_t index);

/// Makes role postgres and the mock nonce unless there are roles. Returns true if it did. Throws SqlError (a read-only Redis: 25006).
asio::awaitable<bool> create_first_role(RedisClient& home);

/// The roles as a statement, or the statements of a transaction, have made them.
struct RoleChange {
  sql::RoleSetPtr committed;  // what it is a change of
  sql::RoleSetPtr roles;
  std::map<sql::Oid, std::string> verifiers = {};  // that change; empty: removed
  /// Numbers of logical databases and the versions that their definitions must still have.
  std::map<int, std::string> unchanged_databases = {};

  /// Returns true if nothing has changed.
  bool empty() const;
};

/// Applies the change by one script, unless the roles have moved since it began (false). The definitions' version moves in every database,
/// so that all processes see the change at their next statement.
asio::awaitable<bool> commit_roles(RedisClient& home, const RoleChange& change);

/// The change as scripts take it: the keys, and the arguments from the version of roles on (executor/scripts/shared/role_change.lua).
struct RoleCommit {
  std::vector<std::string> keys, arguments;
};
RoleCommit encode_commit(const RoleChange& change);
/// Adds the change to those of a commit over several buckets of a cluster, which has one database and moves the definitions' version.
void append_change(DefinitionParts& parts, const RoleChange& change);

asio::awaitable<sql::RoleSetPtr> load_roles(RedisClient& home);
/// All verifiers by role, or one ("": none).
asio::awaitable<std::map<sql::Oid, std::string>> load_verifiers(RedisClient& home);
asio::awaitable<std::string> load_verifier(RedisClient& home, sql::Oid role);

}  // namespace redquel::executor
