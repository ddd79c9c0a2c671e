#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/redis_user.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/role_set.h"
#include "sql/privileges/mapped_role.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Returns true if the role has the rights of the foreign server's owner.
bool owns_foreign_server(const sql::ForeignServerDef& server, sql::Oid role, std::string_view database);
/// Returns true if the role has USAGE on the foreign server.
bool may_use_foreign_server(const sql::ForeignServerDef& server, sql::Oid role, std::string_view database);
/// Returns true for superusers and for roles with a user mapping: others define no foreign tables.
bool may_define_foreign_tables(const sql::CatalogSnapshot& catalog, sql::Oid role);
/// Returns 42501 of the foreign server.
sql::SqlError foreign_server_denied();

/// Throws 42501 unless the role may change and drop the mapping. What a superuser has made is for superusers and the owner of the server.
void require_mapping_change(const sql::ForeignServerDef& server, const sql::UserMappingDef& mapping, sql::Oid role, std::string_view database);
/// Checks the Redis user of a mapping for which no superuser vouches. Throws 42501 for Redis's user "default" and for redquel's own login,
/// 2F003 without a password.
void check_redis_user(std::string_view user, bool has_password, const RedisLogin& own);

/// Returns the key of the password of a mapping's Redis user. It is in no snapshot; read where a connection is made, and for those to whom
/// pg_user_mappings shows it.
std::string mapping_password_key(sql::Oid mapping);
/// Returns the passwords of the server's mappings. `redis`: of the logical database that the catalog is in.
asio::awaitable<std::map<sql::Oid, std::string>> load_mapping_passwords(RedisClient& redis, std::vector<sql::UserMappingDef> mappings);

/// Returns the Redis user of a mapping in the catalog of a logical database, for statements of the role. Reads his password unless it was read
/// under this version of the catalog. Throws 53300 if too many users have connections. If neither the role nor the mapping's maker is a
/// superuser, throws as check_redis_user(), and 2F003 if Redis lets the user in with any password.
asio::awaitable<RedisUserPtr> mapped_user(RedisAccess& own, int database, std::string catalog_version, sql::UserMappingDef mapping, sql::Oid role);
/// Closes the connections of mappings that the catalog of the logical database has no longer.
void forget_other_users(RedisAccess& own, int database, const sql::ForeignServerDef& server);

}  // namespace redquel::executor
