#pragma once

#include <string_view>

#include "sql/catalog/role_set.h"
#include "sql/privileges/acl.h"

namespace redquel::sql {

// Rights that a role has by a list: its own items, those of PUBLIC, and those of the roles whose privileges it has (INHERIT). `database`
// decides who is a member of pg_database_owner. `role`: kPublic asks for the rights of PUBLIC alone.

inline constexpr Oid kReadAllDataRole = 6181, kWriteAllDataRole = 6182, kMonitorRole = 3373, kReadAllStatsRole = 3375;

/// Returns the rights that the role has on an object of the kind (PostgreSQL's pg_class_aclmask and its kin): superusers have all;
/// pg_read_all_data and pg_write_all_data add theirs on tables, sequences and schemas.
Rights held_rights(const Acl& acl, AclKind kind, Oid owner, Oid role, const RoleSet& roles, std::string_view database);
/// Returns the rights that the role may grant to others: the owner and superusers all.
Rights held_grant_options(const Acl& acl, AclKind kind, Oid owner, Oid role, const RoleSet& roles, std::string_view database);

}  // namespace redquel::sql
