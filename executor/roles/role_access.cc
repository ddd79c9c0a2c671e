#include "executor/roles/role_access.h"

#include <fmt/format.h>

#include "executor/redis/subscription.h"
#include "executor/roles/user_mappings.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

RoleAccess::RoleAccess(RedisAccess& own, int database, sql::CatalogPtr catalog, sql::Oid role)
    : own_(own), database_(database), catalog_(std::move(catalog)), role_(role) {}

std::unique_ptr<Subscription> RoleAccess::subscribe(std::string channel, std::function<void(std::string_view message)> take) {
  return own_.subscribe(std::move(channel), std::move(take));
}

void RoleAccess::check_as(const std::vector<planner::Requirement>& requirements) {
  for (const planner::Requirement& requirement : requirements) {
    if (requirement.checked_as && requirement.kind == sql::AclKind::kTable) checked_roles_.insert_or_assign(requirement.object, *requirement.checked_as);
  }
}

sql::Oid RoleAccess::checked_role(sql::Oid relation) const {
  const auto found = checked_roles_.find(relation);
  return found == checked_roles_.end() ? role_ : found->second;
}

bool RoleAccess::is_mapped(sql::Oid role) const { return find_user_mapping(catalog_->server, role) != nullptr; }

asio::awaitable<RedisUserPtr> RoleAccess::user_of_role(sql::Oid role) {
  const sql::UserMappingDef* mapping = find_user_mapping(catalog_->server, role);
  if (mapping == nullptr) co_return nullptr;
  if (const auto known = users_.find(role); known != users_.end()) co_return known->second;
  RedisUserPtr user = co_await mapped_user(own_, database_, catalog_->version, *mapping, role);
  users_.emplace(role, user);
  co_return user;
}

bool RoleAccess::lacks_mapping(const sql::TableDef& table) const {
  const sql::Oid role = checked_role(table.oid);
  const sql::RoleSet& roles = *sql::known_roles();
  if (is_mapped(role) || roles.is_superuser(role)) return false;
  // The rows of a table that another role has made are what a Redis user may see, not what redquel may.
  return !sql::is_before_roles(table.owner) && !roles.is_superuser(sql::owner_role(table.owner));
}

asio::awaitable<RedisUserPtr> RoleAccess::user_of(const sql::TableDef& table) {
  const sql::Oid role = checked_role(table.oid);
  if (lacks_mapping(table)) {
    throw sql::SqlError(sqlstate::kUndefinedObject, fmt::format("user mapping not found for \"{}\"", sql::known_roles()->name_of(role)));
  }
  co_return co_await user_of_role(role);
}

void RoleAccess::check_as_owner(const sql::TableDef& table) {
  const sql::Oid owner = sql::owner_role(table.owner);
  if (!sql::is_before_roles(table.owner) && !sql::known_roles()->is_superuser(owner)) checked_roles_.insert_or_assign(table.oid, owner);
}

RoleAccess* role_access(RedisAccess* access) { return dynamic_cast<RoleAccess*>(access); }

}  // namespace redquel::executor
