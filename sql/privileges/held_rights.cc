#include "sql/privileges/held_rights.h"

namespace redquel::sql {

namespace {

/// Adds up one member of the items that count for the role.
Rights sum_of(const Acl& acl, Rights AclItem::*member, Oid role, const RoleSet& roles, std::string_view database) {
  Rights sum = 0;
  for (const AclItem& item : acl) {
    if (item.grantee == kPublic || item.grantee == role) sum |= item.*member;
  }
  for (const AclItem& item : acl) {
    // The search through memberships is for items that add something.
    if ((item.*member & ~sum) != 0 && roles.has_privileges_of(role, item.grantee, database)) sum |= item.*member;
  }
  return sum;
}

/// Returns the rights that members of pg_read_all_data and pg_write_all_data have without a grant.
Rights predefined_rights(AclKind kind, Oid role, const RoleSet& roles, std::string_view database) {
  const bool is_relation = kind == AclKind::kTable || kind == AclKind::kSequence;
  if (!is_relation && kind != AclKind::kSchema) return 0;
  Rights rights = 0;
  if (roles.has_privileges_of(role, kReadAllDataRole, database)) rights |= is_relation ? right::kSelect : right::kUsage;
  if (roles.has_privileges_of(role, kWriteAllDataRole, database)) {
    rights |= is_relation ? right::kInsert | right::kUpdate | right::kDelete : right::kUsage;
  }
  return rights & all_rights(kind);
}

}  // namespace

Rights held_rights(const Acl& acl, AclKind kind, Oid owner, Oid role, const RoleSet& roles, std::string_view database) {
  (void)owner;  // has its rights by an item: it can revoke them from itself
  if (roles.is_superuser(role)) return all_rights(kind);
  return sum_of(acl, &AclItem::rights, role, roles, database) | predefined_rights(kind, role, roles, database);
}

Rights held_grant_options(const Acl& acl, AclKind kind, Oid owner, Oid role, const RoleSet& roles, std::string_view database) {
  if (roles.is_superuser(role) || (role != kPublic && roles.has_privileges_of(role, owner, database))) return all_rights(kind);
  return sum_of(acl, &AclItem::grantable, role, roles, database);
}

}  // namespace redquel::sql
