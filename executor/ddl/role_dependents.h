#pragma once

#include <string>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/evaluation_context.h"
#include "sql/functions/object_description.h"

namespace redquel::executor {

/// pg_class.oid of catalogs whose objects depend on roles, beside those of sql::catalog_class.
inline constexpr sql::Oid kDefaultAcls = 826, kUserMappings = 1418, kExtensions = 3079, kPolicies = 3256, kPublications = 6104;

/// A row of pg_shdepend: how an object depends on a role. Values sort as PostgreSQL lists them.
struct RoleDependency {
  enum class Kind : std::uint8_t { kPrivileges, kOwner, kPolicy } kind = Kind::kOwner;
  sql::ObjectAddress object;
};

/// Returns what depends on the role in one database, by the objects' oids.
std::vector<RoleDependency> role_dependencies(const sql::CatalogSnapshot& catalog, sql::Oid role);
/// Returns true if the list names the role beside the object's owner.
bool names_role(const sql::OptionalAcl& acl, sql::Oid owner, sql::Oid role);
/// "owner of table t", "privileges for column a of view v".
std::string describe(const RoleDependency& dependency, const sql::EvaluationContext& context);

}  // namespace redquel::executor
