#pragma once

#include <string_view>

#include "sql/catalog/catalog.h"
#include "sql/catalog/role_set.h"

namespace redquel::sql {

// Roles with a user mapping see of Redis what their Redis user may: they have the rights to read the schema redis.

/// Returns the user mapping that counts for a role: its own, else that of PUBLIC. Null: it has none.
const UserMappingDef* find_user_mapping(const ForeignServerDef& server, Oid role);
/// Returns true if the role has USAGE on the schema.
bool has_schema_usage(const CatalogSnapshot& catalog, Oid schema, Oid role, const RoleSet& roles, std::string_view database);

}  // namespace redquel::sql
