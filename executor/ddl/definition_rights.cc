#include "executor/ddl/definition_rights.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/object_lookup.h"
#include "executor/roles/access.h"
#include "sql/privileges/object_acl.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/relations.h"
#include "sql/types/array_value.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

bool owns_database(const sql::RoleSet& roles, const SessionState& session) {
  return roles.has_privileges_of(current_role(roles, session), roles.facts_of(session.database).owner, session.database);
}

bool refuse_maintenance(const SessionState& session, std::string_view name, std::string_view verb, std::string_view owner) {
  if (session.notice) {
    session.notice("WARNING", SqlError(sqlstate::kWarning, fmt::format("skipping \"{}\" --- only {} can {} it", name, owner, verb)));
  }
  return false;
}

/// `schema`: empty for an object in none.
void require_owner_or_schema(const CatalogDraft& draft, const std::string& owner, std::string_view schema, std::string_view kind, std::string_view name) {
  const auto found = draft.catalog().schemas.find(schema);
  const sql::RoleSet& roles = *sql::known_roles();
  const SessionState& session = draft.session();
  const bool owns_schema = found != draft.catalog().schemas.end() &&
                           roles.has_privileges_of(current_role(roles, session), sql::owner_role(found->second.owner), session.database);
  if (!owns_schema) require_owner(session, owner, kind, name);
}

}  // namespace

void require_drop_rights(const CatalogDraft& draft, std::span<const DropObject> objects) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  for (const DropObject& object : objects) {
    const auto require = [&](const auto& definition, std::string_view kind) {
      require_owner_or_schema(draft, definition.owner, definition.schema, kind, definition.name);
    };
    if (const auto table = catalog.find_table(object.oid)) {
      require(*table, sql::kind_name(*table));
    } else if (const auto view = catalog.find_view(object.oid)) {
      require(*view, "view");
    } else if (const auto sequence = catalog.sequences.find(object.oid); sequence != catalog.sequences.end()) {
      require_owner_or_schema(draft, sql::owner_of(catalog, sequence->second), sequence->second.schema, "sequence", sequence->second.name);
    } else if (const auto function = catalog.functions.find(object.oid); function != catalog.functions.end()) {
      const sql::FunctionDef& definition = *function->second;
      require_owner_or_schema(draft, definition.owner, definition.schema, definition.procedure ? "procedure" : "function",
                              display_name(draft, definition.schema, definition.name));
    } else if (const auto type = catalog.types.find(object.oid); type != catalog.types.end()) {
      require_owner_or_schema(draft, type->second->owner, type->second->schema, "type", sql::format_type(sql::Type{object.oid}));
    } else if (const std::string name = sql::schema_name(catalog, object.oid); object.kind == DropObject::Kind::kSchema && catalog.schemas.contains(name)) {
      require_owner(draft.session(), catalog.schemas.find(name)->second.owner, "schema", name);
    }
  }
}

void require_type_usage(const CatalogDraft& draft, const planner::DeclaredType& type) {
  const sql::Oid declared = type.domain != 0 ? type.domain : type.type.oid;
  const sql::Oid oid = sql::is_array_type(declared) ? sql::declared_element(declared) : declared;
  const std::optional<sql::ObjectAcl> acl = sql::acl_of(draft.catalog(), sql::catalog_class::kTypes, oid);
  const sql::RoleSet& roles = *sql::known_roles();
  const SessionState& session = draft.session();
  if (!acl || (sql::held_rights(*acl, current_role(roles, session), roles, session.database) & sql::right::kUsage) != 0) return;
  throw sql::permission_denied("type", sql::format_type(sql::Type{oid}));
}

void require_references(const CatalogDraft& draft, const sql::TableDef& table, std::span<const std::int16_t> columns) {
  const sql::RoleSet& roles = *sql::known_roles();
  const SessionState& session = draft.session();
  const sql::Oid role = current_role(roles, session);
  if ((sql::held_rights(sql::acl_of(table), role, roles, session.database) & sql::right::kReferences) != 0) return;
  const auto may_refer = [&](std::int16_t column) {
    return (sql::held_column_rights(draft.catalog(), table.oid, column, role, roles, session.database) & sql::right::kReferences) != 0;
  };
  if (!columns.empty() && std::ranges::all_of(columns, may_refer)) return;
  throw sql::permission_denied("table", table.name);
}

void require_temporary_creation(const SessionState& session) {
  const sql::RoleSet& roles = *sql::known_roles();
  const sql::ObjectAcl acl = sql::acl_of_database(roles, session.database);
  if ((sql::held_rights(acl, current_role(roles, session), roles, session.database) & sql::right::kTemporary) != 0) return;
  throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied to create temporary tables in database \"{}\"", session.database));
}

bool may_maintain(const SessionState& session, const std::string& owner, std::string_view name, std::string_view verb) {
  const sql::RoleSet& roles = *sql::known_roles();
  const bool is_owner = roles.has_privileges_of(current_role(roles, session), sql::owner_role(owner), session.database);
  return is_owner || owns_database(roles, session) || refuse_maintenance(session, name, verb, "table or database owner");
}

bool may_maintain_catalog(const SessionState& session, std::string_view name, std::string_view verb) {
  return owns_database(*sql::known_roles(), session) || refuse_maintenance(session, name, verb, "superuser or database owner");
}

}  // namespace redquel::executor
