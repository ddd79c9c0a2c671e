#pragma once

#include <string_view>

#include "sql/catalog/catalog.h"
#include "sql/catalog/role_set.h"

namespace redquel::sql {

/// The effect of a table's policies on a role (PostgreSQL's check_enable_rls).
enum class RowSecurity : std::uint8_t {
  kNone,      // for no role
  kBypassed,  // not for this role: superusers, BYPASSRLS, and owners without FORCE
  kEnabled,
};
RowSecurity row_security(const TableDef& table, Oid role, const RoleSet& roles, std::string_view database);
/// Returns true if the role has the privileges of the table's owner.
bool owns_table(const TableDef& table, Oid role, const RoleSet& roles, std::string_view database);

/// Returns true if the policy is for the role: it names PUBLIC, or a role whose privileges the role has.
bool is_policy_for(const PolicyDef& policy, Oid role, const RoleSet& roles, std::string_view database);

}  // namespace redquel::sql
