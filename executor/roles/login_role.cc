#include "executor/roles/login_role.h"

#include "executor/storage/role_store.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/role_json.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

namespace {

/// Reads the roles, unless this thread knows those of the version: every change gives them another random one.
asio::awaitable<sql::RoleSetPtr> newest_roles(RedisClient& home, std::string version) {
  const sql::RoleSetPtr known = sql::known_roles();
  if (known->is_stored && !version.empty() && known->version == version) co_return known;
  CommandBatch batch;
  append_role_fetch(batch);
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  co_return decode_role_set(*replies, 0);
}

LoginRole login_role(const sql::RoleSet& roles, const sql::RoleDef& role, const std::string& database) {
  LoginRole login{.oid = role.oid, .name = role.name, .superuser = role.superuser, .can_login = role.can_login,
                  .connection_limit = role.connection_limit, .valid_until = role.valid_until};
  for (const sql::Oid oid : roles.memberships_of(role.oid, database)) login.memberships.push_back(roles.name_of(oid));
  login.settings = roles.settings_of(role.oid, database);
  return login;
}

}  // namespace

asio::awaitable<LoginFacts> read_login_role(RedisClient& home, std::string name, std::string database) {
  CommandBatch batch;
  batch.add("HGET", sql::home_key(sql::kRolesKey), sql::kRolesVersionField);
  batch.add("HLEN", sql::home_key(sql::kVerifiersKey));
  batch.add("GET", sql::home_key(sql::kMockNonceKey));
  const RepliesPtr first = co_await home.execute(std::move(batch));
  LoginFacts facts;
  facts.has_verifiers = first->integer(1) > 0;
  facts.mock_nonce = first->text(2).value_or("");
  const sql::RoleSetPtr roles = co_await newest_roles(home, std::string(first->text(0).value_or("")));
  facts.has_roles = roles->is_stored;
  facts.roles = roles;
  sql::set_known_roles(roles);
  facts.database = roles->facts_of(database);
  const sql::RoleDef* role = roles->is_stored ? roles->find(name) : nullptr;
  // Does the same work for a name without a role.
  CommandBatch second;
  second.add("HGET", sql::home_key(sql::kVerifiersKey), std::to_string(role == nullptr ? 0 : role->oid));
  for (const auto& [oid, other] : roles->roles()) {
    if (other.superuser && other.can_login) second.add("HGET", sql::home_key(sql::kVerifiersKey), std::to_string(oid));
  }
  const RepliesPtr verifier = co_await home.execute(std::move(second));
  for (std::size_t i = 1; i < verifier->size(); ++i) facts.has_superuser_verifier = facts.has_superuser_verifier || verifier->text(i).has_value();
  if (role == nullptr) co_return facts;
  facts.role = login_role(*roles, *role, database);
  facts.role->verifier = verifier->text(0).value_or("");
  co_return facts;
}

}  // namespace redquel::executor
