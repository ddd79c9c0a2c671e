#include "executor/roles/access.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/roles/user_mappings.h"
#include "executor/runtime/session_context.h"
#include "sql/error.h"
#include "sql/privileges/held_rights.h"
#include "sql/privileges/object_acl.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"

namespace redquel::executor {

using planner::Requirement;
using sql::AclKind;
using sql::CatalogSnapshot;
using sql::Oid;
using sql::Rights;
using sql::SqlError;

namespace {

/// Returns true if the role has the rights of the owner that a definition names.
bool has_rights_of(const SessionState& session, const std::string& owner) {
  const sql::RoleSet& roles = *sql::known_roles();
  const Oid role = current_role(roles, session);
  return roles.is_superuser(role) || (role != 0 && roles.has_privileges_of(role, sql::owner_role(owner), session.database));
}

Oid class_of(AclKind kind) {
  switch (kind) {
    case AclKind::kFunction: return sql::catalog_class::kFunctions;
    case AclKind::kType: return sql::catalog_class::kTypes;
    case AclKind::kSchema: return sql::catalog_class::kSchemas;
    case AclKind::kLanguage: return sql::catalog_class::kLanguages;
    case AclKind::kForeignDataWrapper: return sql::catalog_class::kForeignDataWrappers;
    case AclKind::kForeignServer: return sql::catalog_class::kForeignServers;
    default: return sql::catalog_class::kRelations;
  }
}

SqlError denied_relation(const CatalogSnapshot& catalog, Oid oid) {
  if (const auto table = catalog.find_table(oid)) return sql::permission_denied(sql::kind_name(*table), table->name);
  if (const auto view = catalog.find_view(oid)) return sql::permission_denied("view", view->name);
  if (const auto found = catalog.sequences.find(oid); found != catalog.sequences.end()) return sql::permission_denied("sequence", found->second.name);
  const sql::SystemTable* system = sql::find_system_table(oid);
  if (system == nullptr) return sql::permission_denied("table", std::to_string(oid));
  return sql::permission_denied(system->kind == 'v' ? "view" : "table", system->name);
}

SqlError denied_object(const CatalogSnapshot& catalog, AclKind kind, Oid oid) {
  switch (kind) {
    case AclKind::kFunction: {
      const auto found = catalog.functions.find(oid);
      if (found != catalog.functions.end()) return sql::permission_denied(found->second->procedure ? "procedure" : "function", found->second->name);
      const sql::CatalogFunction* function = sql::find_catalog_function(oid);
      return sql::permission_denied("function", function == nullptr ? std::to_string(oid) : std::string(function->name));
    }
    case AclKind::kType: {
      const auto found = catalog.types.find(oid);
      return sql::permission_denied("type", found == catalog.types.end() ? sql::format_type(sql::Type{oid}) : found->second->name);
    }
    case AclKind::kSchema: return sql::permission_denied("schema", sql::schema_name(catalog, oid));
    case AclKind::kForeignServer: return sql::permission_denied("foreign server", "redis");
    case AclKind::kForeignDataWrapper: return sql::permission_denied("foreign-data wrapper", "redis");
    case AclKind::kLanguage: return sql::permission_denied("language", "sql");
    default: return denied_relation(catalog, oid);
  }
}

/// Returns true for the schema redis and what is in it.
bool is_of_redis(AclKind kind, Oid object) {
  if (kind == AclKind::kSchema) return object == sql::oid::kRedisSchema;
  if (kind == AclKind::kTable) {
    const sql::SystemTable* table = sql::find_system_table(object);
    return table != nullptr && table->schema == sql::kRedisSchema;
  }
  const sql::CatalogFunction* function = kind == AclKind::kFunction ? sql::find_catalog_function(object) : nullptr;
  return function != nullptr && std::string_view(function->name).starts_with("redis.");
}

/// Rights of one role on objects of one catalog.
class Judge {
 public:
  Judge(const CatalogSnapshot& catalog, Oid role, std::string_view database) : catalog_(catalog), role_(role), database_(database) {}

  bool allows(const Requirement& requirement) const {
    if (roles_.is_superuser(role_)) return true;
    const Rights held = held_on(requirement.kind, requirement.object);
    if (requirement.kind == AclKind::kSequence) return (held & requirement.rights) != 0;
    const Rights missing = requirement.rights & ~held;
    if (missing == 0) return true;
    constexpr Rights kOfColumns = sql::right::kSelect | sql::right::kInsert | sql::right::kUpdate;
    if (requirement.kind != AclKind::kTable || (missing & ~kOfColumns) != 0) return false;
    return allows_columns(requirement, missing, sql::right::kSelect, requirement.selected) &&
           allows_columns(requirement, missing, sql::right::kInsert, requirement.inserted) &&
           allows_columns(requirement, missing, sql::right::kUpdate, requirement.updated);
  }

  Rights held_on(AclKind kind, Oid object) const {
    // A role with a user mapping sees of Redis what its Redis user may.
    if (is_of_redis(kind, object) && find_user_mapping(catalog_.server, role_) != nullptr) {
      return sql::right::kSelect | sql::right::kUsage | sql::right::kExecute;
    }
    const std::optional<sql::ObjectAcl> acl = sql::acl_of(catalog_, class_of(kind), object);
    return acl ? sql::held_rights(*acl, role_, roles_, database_) : 0;
  }

 private:
  bool allows_columns(const Requirement& requirement, Rights missing, Rights right, const std::set<std::int16_t>& columns) const {
    if ((missing & right) == 0) return true;
    const auto has = [&](std::int16_t column) {
      return (sql::held_column_rights(catalog_, requirement.object, column, role_, roles_, database_) & right) != 0;
    };
    const std::vector<std::int16_t> all = columns_of(requirement.object);
    if (columns.empty()) return std::ranges::any_of(all, has);
    return std::ranges::all_of(columns, [&](std::int16_t column) { return column == 0 ? std::ranges::all_of(all, has) : has(column); });
  }

  std::vector<std::int16_t> columns_of(Oid relation) const {
    std::vector<std::int16_t> numbers;
    if (const auto table = catalog_.find_table(relation)) {
      for (const sql::ColumnDef& column : table->columns) {
        if (!column.hidden) numbers.push_back(column.number);
      }
      return numbers;
    }
    const auto view = catalog_.find_view(relation);
    const sql::SystemTable* system = sql::find_system_table(relation);
    const std::size_t count = view ? view->columns.size() : system != nullptr ? system->columns.size() : 0;
    for (std::size_t i = 1; i <= count; ++i) numbers.push_back(static_cast<std::int16_t>(i));
    return numbers;
  }

  const CatalogSnapshot& catalog_;
  const Oid role_;
  const std::string_view database_;
  const sql::RoleSet& roles_ = *sql::known_roles();
};

/// redquel.check_indexes() shows rows of any table, redis.memory_by_prefix() keys. redis.call() judges by itself.
void check_redis_functions(const planner::PhysicalNode& node) {
  if (const auto* scan = std::get_if<planner::PhysicalFunctionScan>(&node.node)) {
    for (const auto& call : scan->calls) {
      const std::string_view name = call.function == nullptr ? std::string_view() : call.function->name;
      if (name.starts_with("redquel.") || name.starts_with("redis.")) throw sql::permission_denied("function", name.substr(name.find('.') + 1));
    }
  }
  for (const planner::PhysicalPlan& input : planner::inputs_of(node)) check_redis_functions(*input);
}

/// Returns true if the role has USAGE on the schema, or there is no schema of that name.
bool may_use_schema(const SessionState& session, const CatalogSnapshot& catalog, const std::string& schema) {
  if (sql::is_temporary_schema(schema) && schema == session.temporary_schema) return true;
  if (sql::is_temporary_schema(schema)) return sql::known_roles()->is_superuser(session.role);
  const Oid oid = sql::schema_oid(catalog, schema);
  return oid == 0 || has_any_right(session.role, session.database, catalog, AclKind::kSchema, oid, sql::right::kUsage);
}

}  // namespace

Oid current_role(const sql::RoleSet& roles, const SessionState& session) { return roles.find(session.role) == nullptr ? 0 : session.role; }

Oid session_role(const sql::RoleSet& roles, const SessionState& session) {
  return roles.find(session.session_role) == nullptr ? 0 : session.session_role;
}

bool is_superuser(const sql::RoleSet& roles, const SessionState& session) { return roles.is_superuser(session.role); }

bool is_superuser(const sql::EvaluationContext& context) { return sql::known_roles()->is_superuser(role_of(context)); }

void check_access(const planner::PlannedStatement& planned, const SessionState& session, const CatalogSnapshot& catalog) {
  for (const Requirement& requirement : planned.rights.requirements) {
    const Judge judge(catalog, requirement.checked_as.value_or(session.role), session.database);
    if (!judge.allows(requirement)) throw denied_object(catalog, requirement.kind, requirement.object);
  }
  if (!is_superuser(*sql::known_roles(), session)) check_redis_functions(*planned.plan);
}

bool has_access(const planner::PlannedStatement& planned, const SessionState& session, const CatalogSnapshot& catalog) {
  try {
    check_access(planned, session, catalog);
    return true;
  } catch (const SqlError&) {
    return false;
  }
}

void require_rights(const SessionState& session, const CatalogSnapshot& catalog, AclKind kind, Oid object, Rights rights) {
  const Judge judge(catalog, session.role, session.database);
  if (!judge.allows({.kind = kind, .object = object, .rights = rights})) throw denied_object(catalog, kind, object);
}

void require_rights(const sql::EvaluationContext& context, AclKind kind, Oid object, Rights rights) {
  if (context.catalog == nullptr) return;
  const Judge judge(*context.catalog, role_of(context), context.database);
  if (!judge.allows({.kind = kind, .object = object, .rights = rights})) throw denied_object(*context.catalog, kind, object);
}

bool has_any_right(Oid role, std::string_view database, const CatalogSnapshot& catalog, AclKind kind, Oid object, Rights rights) {
  return sql::known_roles()->is_superuser(role) || (Judge(catalog, role, database).held_on(kind, object) & rights) != 0;
}

void require_any_right(Oid role, std::string_view database, const CatalogSnapshot& catalog, AclKind kind, Oid object, Rights rights) {
  if (!has_any_right(role, database, catalog, kind, object, rights)) throw denied_object(catalog, kind, object);
}

void require_schema_usage(const SessionState& session, const CatalogSnapshot& catalog, const std::string& schema) {
  if (!schema.empty() && schema != "pg_temp" && !may_use_schema(session, catalog, schema)) throw sql::permission_denied("schema", schema);
}

void follow_search_path(SessionState& session, const CatalogSnapshot& catalog, bool has_own_definitions) {
  if (session.path_version == catalog.version && session.path_role == session.role && !has_own_definitions) return;
  // The role may have another name by now, or be gone: then no role that is made under its name is meant.
  session.user = sql::known_roles()->name_of(session.role);
  session.search_path.clear();
  for (const std::string& written : session.written_path) {
    const std::string& schema = written == "$user" ? session.user : written;
    if (may_use_schema(session, catalog, schema)) session.search_path.push_back(schema);
  }
  session.path_version = has_own_definitions ? "" : catalog.version;
  session.path_role = session.role;
}

void require_owner(const SessionState& session, const std::string& owner, std::string_view kind, std::string_view name) {
  if (!has_rights_of(session, owner)) throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("must be owner of {} {}", kind, name));
}

void require_creation(const CatalogSnapshot& catalog, const SessionState& session, const std::string& schema) {
  if (sql::is_temporary_schema(schema) && schema == session.temporary_schema) return;
  const Oid oid = sql::schema_oid(catalog, schema);
  if (!has_any_right(session.role, session.database, catalog, AclKind::kSchema, oid, sql::right::kCreate)) throw sql::permission_denied("schema", schema);
}

void require_database_owner(const sql::RoleSet& roles, const SessionState& session, const std::string& database) {
  if (!roles.has_privileges_of(current_role(roles, session), roles.facts_of(database).owner)) {
    throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("must be owner of database {}", database));
  }
}

void require_schema_creation(const SessionState& session) {
  const sql::RoleSet& roles = *sql::known_roles();
  const Rights held = sql::held_rights(sql::acl_of_database(roles, session.database), session.role, roles, session.database);
  if ((held & sql::right::kCreate) == 0) throw sql::permission_denied("database", session.database);
}

void require_superuser(const SessionState& session, std::string_view message) {
  if (!is_superuser(*sql::known_roles(), session)) throw SqlError(sqlstate::kInsufficientPrivilege, std::string(message));
}

}  // namespace redquel::executor
