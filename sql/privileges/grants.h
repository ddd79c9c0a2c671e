#pragma once

#include <span>
#include <string_view>

#include "sql/catalog/role_set.h"
#include "sql/privileges/acl.h"

namespace redquel::sql {

// Changes of a list, as PostgreSQL's acl.c makes them.

/// The facts, besides the list, that its changes depend on.
struct AclOwner {
  Oid owner = 0;  // has all grant options
  const RoleSet& roles;
  std::string_view database;  // decides who is a member of pg_database_owner
};

/// Returns the list after GRANT by `grantor`. Throws 0LP01 for grant options to PUBLIC, and for those that would come back to the
/// grantor's own grantor.
Acl grant(Acl acl, std::span<const Oid> grantees, Oid grantor, Rights rights, bool with_grant_option, const AclOwner& owner);
/// Returns the list after REVOKE of what `grantor` granted; `only_grant_option`: GRANT OPTION FOR. Rights that the grantees granted by a
/// lost grant option go, too, with CASCADE; without it they are 2BP01 "dependent privileges exist".
Acl revoke(Acl acl, std::span<const Oid> grantees, Oid grantor, Rights rights, bool only_grant_option, bool cascade, const AclOwner& owner);

/// The role in whose name a GRANT or REVOKE is done, and which of the wanted rights it may grant.
struct Grantor {
  Oid role = 0;
  Rights grantable = 0;
};
/// Returns the owner for the owner and superusers; else the role itself or one whose privileges it has, with the most grant options.
Grantor select_best_grantor(const Acl& acl, Oid role, Rights rights, const AclOwner& owner);

/// Returns the list with `to` in the place of `from`, items of the same grantee and grantor merged (PostgreSQL's aclnewowner).
Acl change_owner(const Acl& acl, Oid from, Oid to);

/// Returns true if both have the same items, in any order.
bool has_same_items(Acl a, Acl b);
/// Returns the list of a new object of the role: `global` (nullptr: the default of the kind) with `in_schema` (nullptr: none) added, the
/// entries of ALTER DEFAULT PRIVILEGES. nullopt: it is the default.
OptionalAcl merge_defaults(AclKind kind, const Acl* global, const Acl* in_schema, const AclOwner& owner);

}  // namespace redquel::sql
