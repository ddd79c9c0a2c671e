#include "sql/privileges/object_acl.h"

#include <algorithm>

#include "sql/privileges/grants.h"
#include "sql/privileges/held_rights.h"
#include "sql/privileges/initial_acls.h"
#include "sql/privileges/system_acl.h"
#include "sql/system_tables/foreign_options.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/types/user_types.h"

namespace redquel::sql {

namespace {

constexpr Oid kFirstLanguage = 12, kLastLanguage = 14;  // internal, c, sql
constexpr Oid kPlpgsqlLanguage = 13758;

/// The list of an object of the system: what was granted in this database, else what it has from the start.
ObjectAcl system_acl(const CatalogSnapshot& catalog, AclKind kind, Oid object_class, Oid object, OptionalAcl initial = {}) {
  const auto granted = catalog.system_acls.find({object_class, object});
  return {.kind = kind, .acl = granted != catalog.system_acls.end() ? OptionalAcl(granted->second) : std::move(initial)};
}

std::optional<ObjectAcl> relation_acl(const CatalogSnapshot& catalog, Oid oid) {
  if (const auto table = catalog.find_table(oid)) return acl_of(*table);
  if (const auto view = catalog.find_view(oid)) return acl_of(*view);
  if (const auto found = catalog.sequences.find(oid); found != catalog.sequences.end()) return acl_of(catalog, found->second);
  if (const SystemTable* system = find_system_table(oid)) {
    ObjectAcl acl = system_acl(catalog, AclKind::kTable, catalog_class::kRelations, oid, initial_relation_acl(system->schema, system->name));
    acl.is_catalog_table = system->schema == "pg_catalog" && system->kind != 'v';
    return acl;
  }
  const std::optional<Relation> relation = find_relation(catalog, oid);  // an index or a composite type
  if (!relation) return std::nullopt;
  const Oid owner = relation->table != nullptr ? owner_oid(relation->table->owner) : relation->type != nullptr ? owner_oid(relation->type->owner) : kPostgresRole;
  return ObjectAcl{.kind = AclKind::kTable, .owner = owner};
}

/// Returns the owner of the row type of a table or view: the relation's owner.
std::optional<Oid> row_type_owner(const CatalogSnapshot& catalog, Oid type) {
  for (const auto& [oid, table] : catalog.tables) {
    if (table->row_type == type) return owner_oid(table->owner);
  }
  for (const auto& [oid, view] : catalog.views) {
    if (view->row_type == type) return owner_oid(view->owner);
  }
  return std::nullopt;
}

std::optional<ObjectAcl> type_acl(const CatalogSnapshot& catalog, Oid oid) {
  if (const Oid element = declared_element(oid); element != 0) return type_acl(catalog, element);
  if (const auto found = catalog.types.find(oid); found != catalog.types.end()) return acl_of(*found->second);
  for (const auto& [number, type] : catalog.types) {
    if (type->kind == UserType::Kind::kRange && type->range.multirange == oid) return ObjectAcl{.kind = AclKind::kType, .owner = owner_oid(type->owner)};
  }
  const std::optional<Oid> owner = row_type_owner(catalog, oid);
  if (!owner && (oid >= kFirstUserOid || find_type(oid) == nullptr)) return std::nullopt;
  ObjectAcl acl = system_acl(catalog, AclKind::kType, catalog_class::kTypes, oid);
  if (owner) acl.owner = *owner;
  return acl;
}

std::optional<ObjectAcl> function_acl(const CatalogSnapshot& catalog, Oid oid) {
  if (const auto found = catalog.functions.find(oid); found != catalog.functions.end()) return acl_of(*found->second);
  const CatalogFunction* function = find_catalog_function(oid);
  if (function == nullptr) return std::nullopt;
  return system_acl(catalog, AclKind::kFunction, catalog_class::kFunctions, oid, initial_function_acl(oid, function->name));
}

std::optional<ObjectAcl> schema_acl(const CatalogSnapshot& catalog, Oid oid) {
  const std::string name = schema_name(catalog, oid);
  if (name.empty()) return std::nullopt;
  if (const auto found = catalog.schemas.find(name); found != catalog.schemas.end() && found->second.oid == oid) return acl_of(found->second);
  return system_acl(catalog, AclKind::kSchema, catalog_class::kSchemas, oid, initial_schema_acl(name));
}

}  // namespace

ObjectAcl acl_of(const TableDef& table) { return {.kind = AclKind::kTable, .owner = owner_oid(table.owner), .acl = table.acl}; }

ObjectAcl acl_of(const CatalogSnapshot& catalog, const SequenceDef& sequence) {
  return {.kind = AclKind::kSequence, .owner = owner_oid(owner_of(catalog, sequence)), .acl = sequence.acl};
}

ObjectAcl acl_of(const ViewDef& view) { return {.kind = AclKind::kTable, .owner = owner_oid(view.owner), .acl = view.acl}; }

ObjectAcl acl_of(const FunctionDef& function) { return {.kind = AclKind::kFunction, .owner = owner_oid(function.owner), .acl = function.acl}; }

ObjectAcl acl_of(const SchemaDef& schema) {
  // The schema public that every database begins with; one that was made later has a number of its own.
  const bool is_initial = !schema.acl && schema.oid < kFirstUserOid;
  ObjectAcl acl{.kind = AclKind::kSchema, .owner = owner_oid(schema.owner), .acl = is_initial ? initial_schema_acl(schema.name) : schema.acl};
  if (is_initial && acl.acl) acl.acl = change_owner(*acl.acl, kDatabaseOwnerRole, acl.owner);
  return acl;
}

ObjectAcl acl_of(const ForeignServerDef& server) { return {.kind = AclKind::kForeignServer, .owner = owner_oid(server.owner), .acl = server.acl}; }

ObjectAcl acl_of(const UserType& type) { return {.kind = AclKind::kType, .owner = owner_oid(type.owner), .acl = type.acl}; }

ObjectAcl acl_of_database(const RoleSet& roles, std::string_view database) {
  const DatabaseFacts facts = roles.facts_of(database);
  return {.kind = AclKind::kDatabase, .owner = facts.owner, .acl = facts.acl ? facts.acl : initial_database_acl(database)};
}

std::optional<ObjectAcl> acl_of(const CatalogSnapshot& catalog, Oid object_class, Oid object) {
  switch (object_class) {
    case catalog_class::kRelations: return relation_acl(catalog, object);
    case catalog_class::kFunctions: return function_acl(catalog, object);
    case catalog_class::kTypes: return type_acl(catalog, object);
    case catalog_class::kSchemas: return schema_acl(catalog, object);
    case catalog_class::kForeignServers:
      return object == kRedisServer ? std::optional(acl_of(catalog.server)) : std::nullopt;
    case catalog_class::kForeignDataWrappers:
      return object == kRedisWrapper ? std::optional(system_acl(catalog, AclKind::kForeignDataWrapper, object_class, object)) : std::nullopt;
    case catalog_class::kLanguages:
      return (object >= kFirstLanguage && object <= kLastLanguage) || object == kPlpgsqlLanguage ? std::optional(system_acl(catalog, AclKind::kLanguage, object_class, object)) : std::nullopt;
    case catalog_class::kTablespaces:
      return object == oid::kDefaultTablespace || object == oid::kGlobalTablespace
                 ? std::optional(system_acl(catalog, AclKind::kTablespace, object_class, object)) : std::nullopt;
    default: return std::nullopt;
  }
}

OptionalAcl column_acl(const CatalogSnapshot& catalog, Oid relation, std::int16_t column) {
  if (const auto table = catalog.find_table(relation)) {
    const ColumnDef* found = table->find_column(column);
    return found != nullptr ? found->acl : std::nullopt;
  }
  const auto position = static_cast<std::size_t>(column - 1);
  if (const auto view = catalog.find_view(relation)) {
    return column > 0 && position < view->columns.size() ? view->columns[position].acl : std::nullopt;
  }
  const SystemTable* system = find_system_table(relation);
  if (system == nullptr || column <= 0 || position >= system->columns.size()) return std::nullopt;
  const auto granted = catalog.system_acls.find(system_acl_key({catalog_class::kRelations, relation, column}));
  if (granted == catalog.system_acls.end()) return initial_column_acl(system->schema, system->name, system->columns[position].name);
  return granted->second.empty() ? OptionalAcl() : granted->second;
}

Rights held_rights(const ObjectAcl& object, Oid role, const RoleSet& roles, std::string_view database) {
  const Rights held = held_rights(object.effective(), object.kind, object.owner, role, roles, database);
  if (!object.is_catalog_table || roles.is_superuser(role)) return held;
  return held & ~(right::kInsert | right::kUpdate | right::kDelete | right::kTruncate);
}

Rights held_grant_options(const ObjectAcl& object, Oid role, const RoleSet& roles, std::string_view database) {
  return held_grant_options(object.effective(), object.kind, object.owner, role, roles, database);
}

Rights held_column_rights(const CatalogSnapshot& catalog, Oid relation, std::int16_t column, Oid role, const RoleSet& roles,
                          std::string_view database) {
  const OptionalAcl acl = column_acl(catalog, relation, column);
  return acl ? held_rights(*acl, AclKind::kColumn, 0, role, roles, database) : 0;
}

}  // namespace redquel::sql
