#include "sql/system_tables/roles.h"

#include <algorithm>

namespace redquel::sql {
namespace {

/// FNV-1a: the same in every process; far above the oids that are handed out.
Oid oid_from_name(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return 0x40000000U | (hash & 0x3fffffffU);
}

void add_owner(std::vector<Role>& roles, const std::string& owner) {
  if (!is_before_roles(owner) || owner_role(owner) != 0) return;
  if (std::ranges::find(roles, owner, &Role::name) == roles.end()) roles.push_back({role_oid(owner), owner});
}

}  // namespace

std::vector<Role> all_roles(const CatalogSnapshot& catalog, const EvaluationContext&) {
  std::vector<Role> roles;
  for (const auto& [oid, role] : known_roles()->roles()) roles.push_back({oid, role.name});
  for (const auto& [name, schema] : catalog.schemas) add_owner(roles, schema.owner);
  for (const auto& [oid, table] : catalog.tables) add_owner(roles, table->owner);
  return roles;
}

Oid role_oid(std::string_view name) {
  if (!is_before_roles(name)) return owner_role(name);
  const RoleDef* role = known_roles()->find(name);
  if (role != nullptr) return role->oid;
  const Oid owner = owner_role(name);
  return owner != 0 ? owner : oid_from_name(name);
}

Oid owner_oid(std::string_view owner) {
  const Oid role = owner_role(owner);
  return role != 0 ? role : oid_from_name(owner);
}

Oid database_oid(std::string_view name) { return name == "postgres" ? 5 : oid_from_name(name); }

}  // namespace redquel::sql
