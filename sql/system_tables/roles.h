#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/catalog/role_set.h"
#include "sql/evaluation_context.h"

namespace redquel::sql {

/// A name that roles are known by.
struct Role {
  Oid oid = 0;
  std::string name;
};

/// The stored and predefined roles, and the names of owners in definitions from before roles.
std::vector<Role> all_roles(const CatalogSnapshot& catalog, const EvaluationContext& context);
/// The oid of a role's name or of an owner's text (owner_reference()). A name from before roles that is none has one made of itself.
Oid role_oid(std::string_view name);
/// The oid of the owner that a definition names. A name from before roles that is none has one made of itself, which no role has.
Oid owner_oid(std::string_view owner);
/// Returns the oid of a database, from its name likewise.
Oid database_oid(std::string_view name);

}  // namespace redquel::sql
