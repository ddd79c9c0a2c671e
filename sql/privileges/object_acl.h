#pragma once

#include <optional>
#include <string_view>

#include "sql/catalog/catalog.h"
#include "sql/catalog/role_set.h"
#include "sql/privileges/acl.h"

namespace redquel::sql {

/// pg_class.oid of the catalogs whose rows are objects with a list.
namespace catalog_class {
inline constexpr Oid kRelations = 1259, kFunctions = 1255, kTypes = 1247, kSchemas = 2615, kLanguages = 2612, kDatabases = 1262,
                     kTablespaces = 1213, kForeignDataWrappers = 2328, kForeignServers = 1417, kParameters = 6243;
}  // namespace catalog_class

/// The grants on one object.
struct ObjectAcl {
  AclKind kind = AclKind::kTable;
  Oid owner = kPostgresRole;
  /// The list that the catalogs show; nullopt: the default of the kind holds. Objects of the system have PostgreSQL's initial privileges.
  OptionalAcl acl = {};
  bool is_catalog_table = false;  // a table of pg_catalog, no view: only superusers change it, regardless of grants

  /// The list that holds.
  Acl effective() const { return acl ? *acl : default_acl(kind, owner); }
};

ObjectAcl acl_of(const TableDef& table);
ObjectAcl acl_of(const CatalogSnapshot& catalog, const SequenceDef& sequence);
ObjectAcl acl_of(const ViewDef& view);
ObjectAcl acl_of(const FunctionDef& function);
ObjectAcl acl_of(const SchemaDef& schema);
ObjectAcl acl_of(const ForeignServerDef& server);
/// Returns the list of a type that catalog.types has.
ObjectAcl acl_of(const UserType& type);
/// Returns the list of a database of this Redis, template0 or template1.
ObjectAcl acl_of_database(const RoleSet& roles, std::string_view database);
/// Returns the list of any object but a database, a column or a parameter; `object_class`: see catalog_class. An array type has the list
/// of its elements' type; an index, that of a table without grants. nullopt: the object does not exist.
std::optional<ObjectAcl> acl_of(const CatalogSnapshot& catalog, Oid object_class, Oid object);

/// Returns the list of a column, by its number; empty: no grant names the column alone. Columns of the system have their initial
/// privileges.
OptionalAcl column_acl(const CatalogSnapshot& catalog, Oid relation, std::int16_t column);

/// Like held_rights() of acl.h's lists, and without changes of the catalog's tables for all but superusers. On an object as a whole: a
/// column's rights are those of column_acl() and those of its table.
Rights held_rights(const ObjectAcl& object, Oid role, const RoleSet& roles, std::string_view database);
Rights held_grant_options(const ObjectAcl& object, Oid role, const RoleSet& roles, std::string_view database);
/// Returns the rights that the role has on a column by its own list alone.
Rights held_column_rights(const CatalogSnapshot& catalog, Oid relation, std::int16_t column, Oid role, const RoleSet& roles,
                          std::string_view database);

}  // namespace redquel::sql
