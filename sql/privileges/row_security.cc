#include "sql/privileges/row_security.h"

#include <algorithm>

namespace redquel::sql {

bool owns_table(const TableDef& table, Oid role, const RoleSet& roles, std::string_view database) {
  const Oid owner = owner_role(table.owner);
  return roles.is_superuser(role) || (owner != 0 && roles.has_privileges_of(role, owner, database));
}

RowSecurity row_security(const TableDef& table, Oid role, const RoleSet& roles, std::string_view database) {
  if (!table.security.enabled) return RowSecurity::kNone;
  const RoleDef* known = roles.find(role);
  if (roles.is_superuser(role) || (known != nullptr && known->bypass_row_security)) return RowSecurity::kBypassed;
  if (!table.security.forced && owns_table(table, role, roles, database)) return RowSecurity::kBypassed;
  return RowSecurity::kEnabled;
}

bool is_policy_for(const PolicyDef& policy, Oid role, const RoleSet& roles, std::string_view database) {
  return std::ranges::any_of(policy.roles, [&](Oid named) { return named == kPublic || roles.has_privileges_of(role, named, database); });
}

}  // namespace redquel::sql
