#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/evaluation_context.h"

namespace redquel::sql {

/// A row of pg_authid.
struct Role {
  Oid oid = 0;
  std::string name;
  bool is_user = false;  // may log in, and then everything
};

/// The bootstrap user.
inline constexpr Oid kPostgresRole = 10;

/// postgres, PostgreSQL's predefined roles, the session's user and whoever owns something.
std::vector<Role> all_roles(const CatalogSnapshot& catalog, const EvaluationContext& context);
/// A role needs no definition: the oid of one that PostgreSQL does not predefine comes from its name.
Oid role_oid(std::string_view name);
/// Of a database, likewise.
Oid database_oid(std::string_view name);

}  // namespace redquel::sql
