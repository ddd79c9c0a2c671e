#include "executor/roles/first_password.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/storage/role_store.h"
#include "sql/catalog/role_json.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/passwords/password_verifier.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// Returns role 10 as `redquel init` makes it.
sql::RoleDef bootstrap_role(const std::string& name) {
  sql::RoleDef role = *sql::built_in_roles()->find(sql::kPostgresRole);
  role.name = name;
  return role;
}

bool is_lost(const sql::RoleSet& roles, sql::Oid role) {
  return std::ranges::find(roles.damaged, sql::role_field(role)) != roles.damaged.end();
}

}  // namespace

asio::awaitable<void> set_first_password(RedisClient& home, std::string name, std::string password) {
  constexpr int kAttempts = 100;
  if (name.empty() || name.size() > 63 || name.starts_with("pg_")) {
    throw SqlError(sqlstate::kReservedName, fmt::format("role name \"{}\" is reserved", name));
  }
  if (password.empty()) throw SqlError(sqlstate::kInvalidPassword, "the password is empty");
  const std::string verifier = sql::make_verifier(password, name, sql::PasswordForm::kScram);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const sql::RoleSetPtr roles = co_await load_roles(home);
    sql::RoleSet before = *roles, after = *roles;
    sql::Oid oid = sql::kPostgresRole;
    const bool is_new = !roles->is_stored || is_lost(*roles, sql::kPostgresRole);
    if (is_new) {
      const sql::RoleDef* other = roles->find(name);
      if (roles->is_stored && other != nullptr && other->oid != sql::kPostgresRole) {
        throw SqlError(sqlstate::kDuplicateObject, fmt::format("role \"{}\" already exists", name));
      }
      before.drop_role(sql::kPostgresRole);
      after.put(bootstrap_role(name));
    } else {
      const sql::RoleDef* role = roles->find(name);
      if (role == nullptr) throw sql::undefined_role(name);
      if (!role->superuser || !role->can_login) {
        throw SqlError(sqlstate::kUndefinedObject, fmt::format("role \"{}\" is no superuser that may log in", name));
      }
      oid = role->oid;
      const std::string known = co_await load_verifier(home, oid);
      if (!known.empty()) {
        throw SqlError(sqlstate::kDuplicateObject, fmt::format("role \"{}\" has a password already; a superuser changes it by ALTER ROLE", name));
      }
    }
    const RoleChange change{.committed = std::make_shared<const sql::RoleSet>(std::move(before)),
                            .roles = std::make_shared<const sql::RoleSet>(std::move(after)),
                            .verifiers = {{oid, verifier}}};
    const bool is_done = co_await commit_roles(home, change);
    if (!is_done) continue;
    co_await create_first_role(home);  // the mock nonce, if it is missing
    co_return;
  }
  throw SqlError(sqlstate::kSerializationFailure, "could not change the roles due to concurrent changes");
}

}  // namespace redquel::executor
