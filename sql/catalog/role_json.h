#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/catalog/role_set.h"

namespace redquel::sql {

// Roles as the fields of the hash redquel:roles (docs/data-in-redis.md).

std::string role_field(Oid role);                                 // role:<oid>
std::string membership_field(Oid role, Oid member);               // member:<role>:<member>
std::string setting_field(std::string_view database, Oid role);   // setting:<database>:<role>
std::string database_field(std::string_view database);            // database:<name>
inline constexpr std::string_view kRolesVersionField = "version", kNextRoleField = "next_oid";

std::string encode(const RoleDef& role);
std::string encode(const RoleMembership& membership);
std::string encode(const RoleSetting& setting);
std::string encode(const DatabaseFacts& facts);

/// Reads all fields and values. A field that cannot be read, or contradicts another one, is left out and named in `damaged`; what remains
/// is consistent. Memberships of roles that are not there count for nothing.
RoleSet decode_roles(std::span<const std::pair<std::string_view, std::string_view>> fields);

}  // namespace redquel::sql
