#pragma once

#include <string_view>

#include "sql/catalog/catalog.h"
#include "sql/catalog/role_set.h"
#include "sql/evaluation_context.h"
#include "sql/privileges/object_acl.h"

namespace redquel::sql {

/// Rights and grant options that are asked for; any one of them is enough.
struct WantedRights {
  Rights rights = 0, options = 0;
};

/// The rights of one role in one database; what has_table_privilege() and its kin, and the views of information_schema, ask. Valid as long
/// as the catalog and the name of the database.
class RoleRights {
 public:
  RoleRights(const CatalogSnapshot& catalog, Oid role, std::string_view database);
  /// Takes the current role of the context.
  RoleRights(const CatalogSnapshot& catalog, const EvaluationContext& context);

  bool is_superuser() const { return is_superuser_; }
  /// Returns true if it has the privileges of the other one (pg_has_role(…, 'USAGE')).
  bool has_role(Oid other) const;
  bool has_any(const ObjectAcl& object, WantedRights wanted) const;
  /// False, too, where there is no such object. See acl_of().
  bool has_any(Oid object_class, Oid object, WantedRights wanted) const;
  /// By the column's own list alone.
  bool has_any_on_column(Oid relation, std::int16_t column, WantedRights wanted) const;
  /// By the own list of any column.
  bool has_any_on_some_column(Oid relation, WantedRights wanted) const;

 private:
  /// Superusers have any right, and the owner any grant option, those that the kind of object does not have, too.
  bool has_without_grant(Oid owner, WantedRights wanted) const;

  const CatalogSnapshot& catalog_;
  Oid role_;
  std::string_view database_;
  RoleSetPtr roles_ = known_roles();
  bool is_superuser_;
};

/// The role of the name; kPublic for "public". 42704.
Oid role_or_public(std::string_view name);

}  // namespace redquel::sql
