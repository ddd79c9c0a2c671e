#include "executor/roles/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/system_tables.h"
#include "sql/system_tables/relations.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// Has the role what the owner that a definition names may do?
bool has_rights_of(const SessionState& session, const std::string& owner) {
  const sql::RoleSet& roles = *sql::known_roles();
  const sql::Oid role = current_role(roles, session);
  return roles.is_superuser(role) || (role != 0 && roles.has_privileges_of(role, sql::owner_role(owner), session.database));
}

SqlError denied(std::string_view kind, std::string_view name) {
  return SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied for {} {}", kind, name));
}

/// Catalogs that PostgreSQL lets nobody but superusers read.
constexpr std::array<std::string_view, 2> kSecretTables = {"pg_authid", "pg_user_mapping"};
constexpr std::array<std::string_view, 3> kSecretViews = {"pg_shadow", "pg_hba_file_rules", "pg_ident_file_mappings"};

void check_system_table(const planner::PhysicalSystemScan& scan) {
  if (scan.schema == sql::kRedisSchema) throw denied("schema", scan.schema);
  if (scan.schema != "pg_catalog") return;
  if (std::ranges::find(kSecretTables, scan.name) != kSecretTables.end()) throw denied("table", scan.name);
  if (std::ranges::find(kSecretViews, scan.name) != kSecretViews.end()) throw denied("view", scan.name);
}

/// redquel.check_indexes() shows rows of any table.
void check_function(const planner::PhysicalFunctionScan& scan) {
  for (const auto& call : scan.calls) {
    const std::string_view name = call.function == nullptr ? std::string_view() : call.function->name;
    if (name.starts_with("redis.") || name.starts_with("redquel.")) throw denied("function", name.substr(name.find('.') + 1));
  }
}

void check_system_tables(const planner::PhysicalNode& node) {
  if (const auto* scan = std::get_if<planner::PhysicalSystemScan>(&node.node)) check_system_table(*scan);
  if (const auto* scan = std::get_if<planner::PhysicalFunctionScan>(&node.node)) check_function(*scan);
  for (const planner::PhysicalPlan& input : planner::inputs_of(node)) check_system_tables(*input);
}

}  // namespace

sql::Oid current_role(const sql::RoleSet& roles, const SessionState& session) {
  const sql::RoleDef* role = roles.find(session.user);
  return role == nullptr ? 0 : role->oid;
}

sql::Oid session_role(const sql::RoleSet& roles, const SessionState& session) {
  const std::optional<std::string> name = session.show ? session.show("session_authorization") : std::nullopt;
  const sql::RoleDef* role = roles.find(name.value_or(session.user));
  return role == nullptr ? 0 : role->oid;
}

bool is_superuser(const sql::RoleSet& roles, const SessionState& session) { return roles.is_superuser(current_role(roles, session)); }

bool is_superuser(const sql::EvaluationContext& context) {
  const sql::RoleDef* role = sql::known_roles()->find(context.user);
  return role != nullptr && role->superuser;
}

void check_access(const planner::PhysicalPlan& plan, const SessionState& session) {
  if (is_superuser(*sql::known_roles(), session)) return;
  check_system_tables(*plan);
  for (const auto& table : planner::tables_of(plan)) require_access(session, *table);
}

bool has_access(const planner::PhysicalPlan& plan, const SessionState& session) {
  try {
    check_access(plan, session);
    return true;
  } catch (const SqlError&) {
    return false;
  }
}

void require_access(const SessionState& session, const sql::TableDef& table) {
  if (sql::is_before_roles(table.owner) || has_rights_of(session, table.owner)) return;
  throw denied(table.mapping ? "foreign table" : table.materialized ? "materialized view" : "table", table.name);
}

void require_access(const sql::EvaluationContext& context, const sql::SequenceDef& sequence) {
  if (context.catalog == nullptr || is_superuser(context)) return;
  const std::string owner = sql::owner_of(*context.catalog, sequence);
  const sql::RoleSet& roles = *sql::known_roles();
  const sql::RoleDef* role = roles.find(context.user);
  const bool is_allowed = role != nullptr && roles.has_privileges_of(role->oid, sql::owner_role(owner), context.database);
  if (!is_allowed && !sql::is_before_roles(owner)) throw denied("sequence", sequence.name);
}

void require_owner(const SessionState& session, const std::string& owner, std::string_view kind, std::string_view name) {
  if (!has_rights_of(session, owner)) throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("must be owner of {} {}", kind, name));
}

void require_creation(const sql::CatalogSnapshot& catalog, const SessionState& session, const std::string& schema) {
  if (sql::is_temporary_schema(schema) && schema == session.temporary_schema) return;
  const auto found = catalog.schemas.find(schema);
  const bool is_allowed = found == catalog.schemas.end() ? is_superuser(*sql::known_roles(), session) : has_rights_of(session, found->second.owner);
  if (!is_allowed) throw denied("schema", schema);
}

void require_database_owner(const sql::RoleSet& roles, const SessionState& session, const std::string& database) {
  if (!roles.has_privileges_of(current_role(roles, session), roles.facts_of(database).owner)) {
    throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("must be owner of database {}", database));
  }
}

void require_schema_creation(const SessionState& session) {
  if (!has_rights_of(session, sql::owner_reference(sql::kDatabaseOwnerRole))) throw denied("database", session.database);
}

void require_superuser(const SessionState& session, std::string_view message) {
  if (!is_superuser(*sql::known_roles(), session)) throw SqlError(sqlstate::kInsufficientPrivilege, std::string(message));
}

}  // namespace redquel::executor
