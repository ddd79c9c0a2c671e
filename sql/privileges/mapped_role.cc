#include "sql/privileges/mapped_role.h"

#include <algorithm>

#include "sql/privileges/object_acl.h"
#include "sql/system_tables/relations.h"

namespace redquel::sql {

const UserMappingDef* find_user_mapping(const ForeignServerDef& server, Oid role) {
  for (const Oid of : {role, kPublic}) {
    const auto found = std::ranges::find(server.mappings, of, &UserMappingDef::role);
    if (found != server.mappings.end()) return &*found;
  }
  return nullptr;
}

bool has_schema_usage(const CatalogSnapshot& catalog, Oid schema, Oid role, const RoleSet& roles, std::string_view database) {
  if (roles.is_superuser(role) || (schema == oid::kRedisSchema && find_user_mapping(catalog.server, role) != nullptr)) return true;
  const std::optional<ObjectAcl> acl = acl_of(catalog, catalog_class::kSchemas, schema);
  return acl && (held_rights(*acl, role, roles, database) & right::kUsage) != 0;
}

}  // namespace redquel::sql
