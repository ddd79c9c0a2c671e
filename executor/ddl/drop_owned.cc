// DROP OWNED and REASSIGN OWNED: PostgreSQL's shdepDropOwned() and shdepReassignOwned().

#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/default_acl_change.h"
#include "executor/ddl/dependents.h"
#include "executor/ddl/extension.h"
#include "executor/ddl/new_owner.h"
#include "executor/ddl/object_privileges.h"
#include "executor/ddl/publication.h"
#include "executor/ddl/role_dependents.h"
#include "executor/ddl/role_draft.h"
#include "executor/ddl/role_statements.h"
#include "executor/roles/user_mappings.h"
#include "parser/role_option.h"
#include "sql/privileges/grants.h"
#include "sql/privileges/object_acl.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/relations.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;
using Kind = DropObject::Kind;

namespace {

namespace classes = sql::catalog_class;

constexpr std::string_view kRoleStaysInPolicy = "01006";  // privilege_not_revoked

/// The roles of BY. 42704, 42501, 2BP01 for PostgreSQL's own.
std::vector<sql::Oid> roles_named(const sql::RoleSet& roles, const SessionState& session, const ast::Option& by, std::string_view verb,
                                  std::string_view refusal) {
  std::vector<sql::Oid> oids;
  for (const std::string& name : std::get<std::vector<std::string>>(by.value)) oids.push_back(require_role(roles, session, name).oid);
  for (const sql::Oid role : oids) {
    if (!roles.has_privileges_of(current_role(roles, session), role, session.database)) {
      throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied to {} objects", verb));
    }
  }
  for (const sql::Oid role : oids) {
    if (role >= sql::kFirstRoleOid) continue;
    throw SqlError(sqlstate::kDependentObjectsStillExist,
                   fmt::format("{} owned by role {} because they are required by the database system", refusal, roles.name_of(role)));
  }
  return oids;
}

// ---- DROP OWNED -------------------------------------------------------------------------------------------------------------

/// Takes the role out of the policies for it; a policy for this role alone goes. Policies of tables of other owners stay, with a warning.
void leave_policy(CatalogDraft& draft, sql::Oid policy, sql::Oid role) {
  for (const auto& [oid, found] : draft.catalog().tables) {
    if (std::ranges::find(found->security.policies, policy, &sql::PolicyDef::oid) == found->security.policies.end()) continue;
    sql::TableDef table = *found;
    const auto changed = std::ranges::find(table.security.policies, policy, &sql::PolicyDef::oid);
    const SessionState& session = draft.session();
    const sql::RoleSet& roles = *sql::known_roles();
    if (!roles.has_privileges_of(current_role(roles, session), sql::owner_role(table.owner), session.database)) {
      if (!session.notice) return;
      const std::string policy_name = fmt::format("policy \"{}\" for table \"{}\"", changed->name, table.name);
      return session.notice("WARNING", SqlError(kRoleStaysInPolicy, fmt::format("role \"{}\" could not be removed from {}", roles.name_of(role), policy_name)));
    }
    std::erase(changed->roles, role);
    if (changed->roles.empty()) table.security.policies.erase(changed);
    return draft.put(std::move(table));
  }
}

/// Nothing for a sequence that a table owns: it goes with the table.
std::optional<DropObject> drop_target(const sql::CatalogSnapshot& catalog, const sql::ObjectAddress& object) {
  switch (object.catalog) {
    case classes::kSchemas: return DropObject{Kind::kSchema, object.object};
    case classes::kFunctions:
      if (catalog.functions.at(object.object)->extension != 0) return DropObject{Kind::kExtension, catalog.functions.at(object.object)->extension};
      return DropObject{Kind::kFunction, object.object};
    case classes::kTypes: return DropObject{Kind::kType, object.object};
    case kExtensions: return DropObject{Kind::kExtension, object.object};
    case classes::kRelations: break;
    default: return std::nullopt;
  }
  if (catalog.find_table(object.object)) return DropObject{Kind::kTable, object.object};
  if (catalog.find_view(object.object)) return DropObject{Kind::kView, object.object};
  const auto sequence = catalog.sequences.find(object.object);
  if (sequence == catalog.sequences.end() || catalog.find_table(sequence->second.owner_table)) return std::nullopt;
  return DropObject{Kind::kSequence, object.object};
}

void drop_target(CatalogDraft& draft, const DropObject& target) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  if (target.kind == Kind::kTable && catalog.find_table(target.oid)) draft.drop_table(target.oid);
  if (target.kind == Kind::kView && catalog.find_view(target.oid)) draft.drop_view(target.oid);
  if (target.kind == Kind::kSequence && catalog.sequences.contains(target.oid)) draft.drop_sequence(target.oid);
  if (target.kind == Kind::kFunction && catalog.functions.contains(target.oid)) draft.drop_function(target.oid);
  if (target.kind == Kind::kExtension && catalog.extensions.contains(target.oid)) drop_with_members(draft, target.oid);
  if (target.kind == Kind::kType && catalog.types.contains(target.oid)) draft.drop_type(target.oid);
  if (target.kind == Kind::kSchema) {
    const std::string name = sql::schema_name(catalog, target.oid);
    if (!name.empty()) draft.drop_schema(name);
  }
}

void leave(CatalogDraft& draft, const RoleDependency& dependency, sql::Oid role) {
  if (dependency.kind == RoleDependency::Kind::kPolicy) return leave_policy(draft, dependency.object.object, role);
  if (dependency.object.catalog == kDefaultAcls) return revoke_default_privileges(draft, dependency.object.object, role);
  PrivilegeChange change;
  change.is_grant = false;
  change.cascade = true;
  change.rights.is_all = true;
  change.grantees = {role};
  change.role = current_role(*sql::known_roles(), draft.session());
  change_privileges(draft, change, {dependency.object.catalog, dependency.object.object}, true);
}

/// Drops a default list, a publication or a user mapping. Other objects have DROP statements.
void drop_part(CatalogDraft& draft, const sql::ObjectAddress& object) {
  if (object.catalog == kDefaultAcls) return draft.drop_default_acl(object.object);
  if (object.catalog == kPublications) return draft.drop_publication(object.object);
  if (object.catalog != kUserMappings) return;
  sql::ForeignServerDef server = draft.catalog().server;
  const auto mapping = std::ranges::find(server.mappings, object.object, &sql::UserMappingDef::oid);
  if (mapping == server.mappings.end()) return;
  const SessionState& session = draft.session();
  require_mapping_change(server, *mapping, current_role(*sql::known_roles(), session), session.database);
  draft.delete_key(mapping_password_key(mapping->oid));
  server.mappings.erase(mapping);
  draft.put(std::move(server));
}

void drop_owned(CatalogDraft& draft, const std::vector<sql::Oid>& roles, bool cascade) {
  std::vector<DropObject> targets;
  for (const sql::Oid role : roles) {
    for (const RoleDependency& dependency : role_dependencies(draft.catalog(), role)) {
      if (dependency.kind != RoleDependency::Kind::kOwner) {
        leave(draft, dependency, role);
      } else if (const std::optional<DropObject> target = drop_target(draft.catalog(), dependency.object)) {
        if (std::ranges::find(targets, *target) == targets.end()) targets.push_back(*target);
      } else {
        drop_part(draft, dependency.object);
      }
    }
  }
  std::ranges::reverse(targets);  // the newest first
  const DependentChanges has_privileges_of_owner;
  drop_dependents(draft, targets, cascade);
  for (const DropObject& target : targets) drop_target(draft, target);
}

asio::awaitable<void> revoke_on_databases(DdlContext& context, const ast::Option& by) {
  co_await change_roles(context, [&](RoleDraft& draft) {
    const Warn warn = [&](SqlError warning) { draft.notice("WARNING", std::move(warning)); };
    PrivilegeChange change;
    change.is_grant = false;
    change.cascade = true;
    change.rights.is_all = true;
    change.role = draft.current_role();
    const auto databases = draft.roles.databases();
    for (const std::string& name : std::get<std::vector<std::string>>(by.value)) {
      const sql::Oid role = require_role(draft.roles, draft.session(), name).oid;
      change.grantees = {role};
      for (const auto& [database, before] : databases) {
        sql::DatabaseFacts facts = draft.roles.facts_of(database);
        if (!names_role(facts.acl, facts.owner, role)) continue;
        facts.acl = changed_acl(change, sql::acl_of_database(draft.roles, database), database, draft.roles, draft.session().database, warn);
        draft.roles.put(database, std::move(facts));
      }
    }
  });
}

// ---- REASSIGN OWNED ---------------------------------------------------------------------------------------------------------

void reassign_relation(CatalogDraft& draft, sql::Oid relation, sql::Oid role) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  if (const auto found = catalog.find_table(relation)) {
    sql::TableDef table = *found;
    give_to(draft, table, role);
    draft.put(std::move(table));
  } else if (const auto view = catalog.find_view(relation)) {
    sql::ViewDef changed = *view;
    give_to(changed, role);
    draft.put(std::move(changed));
  } else if (const auto sequence = catalog.sequences.find(relation);
             sequence != catalog.sequences.end() && !catalog.find_table(sequence->second.owner_table)) {
    sql::SequenceDef changed = sequence->second;
    give_to(changed, sql::owner_role(sql::owner_of(catalog, changed)), role);
    draft.put(std::move(changed));
  }
}

void reassign(CatalogDraft& draft, const sql::ObjectAddress& object, sql::Oid role) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  const DependentChanges has_privileges_of_owner;
  if (object.catalog == classes::kRelations) return reassign_relation(draft, object.object, role);
  if (object.catalog == classes::kFunctions) {
    sql::FunctionDef function = *catalog.functions.at(object.object);
    require_creation_by(draft, role, function.schema);
    give_to(function, role);
    draft.put(std::move(function));
  } else if (object.catalog == classes::kTypes) {
    sql::UserType type = *catalog.types.at(object.object);
    give_to(type, role);
    draft.put(std::move(type));
  } else if (object.catalog == kExtensions) {
    sql::ExtensionDef extension = catalog.extensions.at(object.object);
    extension.owner = sql::owner_reference(role);
    draft.put(std::move(extension));
  } else if (object.catalog == kPublications) {
    sql::PublicationDef publication = catalog.publications.at(object.object);
    if (!is_superuser(*sql::known_roles(), draft.session())) check_publication_owner(publication, *sql::known_roles()->find(role));
    publication.owner = sql::owner_reference(role);
    draft.put(std::move(publication));
  } else if (object.catalog == classes::kSchemas) {
    sql::SchemaDef schema = catalog.schemas.find(sql::schema_name(catalog, object.object))->second;
    require_schema_creation(draft.session());
    give_to(schema, role);
    draft.put(std::move(schema));
  } else if (object.catalog == classes::kForeignServers) {
    sql::ForeignServerDef server = catalog.server;
    give_to(server, role);
    draft.put(std::move(server));
  }
}

sql::Oid receiving_role(const sql::RoleSet& roles, const SessionState& session, const std::string& name) {
  const sql::Oid role = require_role(roles, session, name).oid;
  if (roles.has_privileges_of(current_role(roles, session), role, session.database)) return role;
  throw SqlError(sqlstate::kInsufficientPrivilege, "permission denied to reassign objects");
}

asio::awaitable<void> reassign_databases(DdlContext& context, const ast::Option& by, const std::string& to) {
  co_await change_roles(context, [&](RoleDraft& draft) {
    const sql::Oid new_owner = require_role(draft.roles, draft.session(), to).oid;
    const auto databases = draft.roles.databases();
    for (const std::string& name : std::get<std::vector<std::string>>(by.value)) {
      const sql::Oid role = require_role(draft.roles, draft.session(), name).oid;
      for (const auto& [database, before] : databases) {
        if (before.owner != role) continue;
        sql::DatabaseFacts facts = draft.roles.facts_of(database);
        if (facts.acl) facts.acl = sql::change_owner(*facts.acl, role, new_owner);
        facts.owner = new_owner;
        draft.roles.put(database, std::move(facts));
      }
    }
  });
}

bool concern_databases(const sql::RoleSet& roles, const SessionState& session, const ast::Option& by) {
  for (const std::string& name : std::get<std::vector<std::string>>(by.value)) {
    const sql::Oid role = require_role(roles, session, name).oid;
    for (const auto& [database, facts] : roles.databases()) {
      if (facts.owner == role || names_role(facts.acl, facts.owner, role)) return true;
    }
  }
  return false;
}

}  // namespace

bool concerns_owned_objects(const ast::AlterRole& statement) {
  return find_option(statement, parser::kDropOwned) != nullptr || find_option(statement, parser::kReassignOwned) != nullptr;
}

asio::awaitable<void> change_owned_objects(DdlContext& context, const ast::AlterRole& statement) {
  const ast::Option* drops = find_option(statement, parser::kDropOwned);
  const ast::Option& by = drops != nullptr ? *drops : *find_option(statement, parser::kReassignOwned);
  const MakeDraft make = [&](CatalogDraft& draft) {
    const sql::RoleSet& roles = *sql::known_roles();
    const SessionState& session = draft.session();
    if (drops != nullptr) {
      return drop_owned(draft, roles_named(roles, session, by, "drop", "cannot drop objects"), find_option(statement, parser::kCascade) != nullptr);
    }
    const std::vector<sql::Oid> oids = roles_named(roles, session, by, "reassign", "cannot reassign ownership of objects");
    const sql::Oid to = receiving_role(roles, session, statement.name);
    for (const sql::Oid role : oids) {
      for (const RoleDependency& dependency : role_dependencies(draft.catalog(), role)) {
        if (dependency.kind == RoleDependency::Kind::kOwner) reassign(draft, dependency.object, to);
      }
    }
  };
  co_await drop_with_key_columns(context, make);
  if (!concern_databases(*sql::known_roles(), context.session, by)) co_return;
  if (drops != nullptr) co_await revoke_on_databases(context, by);
  else co_await reassign_databases(context, by, statement.name);
}

}  // namespace redquel::executor
