// GRANT and REVOKE of privileges on objects.

#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/default_acl_change.h"
#include "executor/ddl/granted_objects.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/object_privileges.h"
#include "executor/ddl/role_draft.h"
#include "executor/ddl/role_setting.h"
#include "sql/privileges/object_acl.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// PostgreSQL 15 lets a role grant in its own name alone.
void check_grantor(const sql::RoleSet& roles, const SessionState& session, const ast::Grant& statement) {
  if (statement.defaults) return;
  for (const std::string& name : statement.makers) {
    if (require_role(roles, session, name).oid != current_role(roles, session)) {
      throw SqlError(sqlstate::kFeatureNotSupported, "grantor must be current user");
    }
  }
}

PrivilegeChange privilege_change(const sql::RoleSet& roles, const SessionState& session, const ast::Grant& statement) {
  PrivilegeChange change;
  change.is_grant = statement.grant;
  change.grant_option = statement.grant_option;
  change.cascade = statement.cascade;
  change.grantees = grantees_of(roles, session, statement);
  change.rights = written_rights(statement);
  change.role = current_role(roles, session);
  return change;
}

/// The lists of databases lie among the roles.
asio::awaitable<void> grant_on_databases(DdlContext& context, const ast::Grant& statement) {
  for (const ast::ObjectName& object : statement.objects) co_await require_database(context, object.names.back());
  co_await change_roles(context, [&](RoleDraft& draft) {
    check_grantor(draft.roles, draft.session(), statement);
    const PrivilegeChange change = privilege_change(draft.roles, draft.session(), statement);
    const Warn warn = [&](SqlError warning) { draft.notice("WARNING", std::move(warning)); };
    for (const ast::ObjectName& object : statement.objects) {
      const std::string& name = object.names.back();
      sql::DatabaseFacts facts = draft.roles.facts_of(name);
      facts.acl = changed_acl(change, sql::acl_of_database(draft.roles, name), name, draft.roles, draft.session().database, warn);
      draft.roles.put(name, std::move(facts));
    }
  });
}

}  // namespace

std::vector<sql::Oid> grantees_of(const sql::RoleSet& roles, const SessionState& session, const ast::Grant& statement) {
  std::vector<sql::Oid> grantees;
  for (const std::string& name : statement.grantees) {
    grantees.push_back(name == "public" ? sql::kPublic : require_role(roles, session, name).oid);
  }
  return grantees;
}

asio::awaitable<void> run(DdlContext& context, const ast::Grant& statement) {
  if (statement.object == ast::ObjectType::kDatabase && !statement.defaults) co_return co_await grant_on_databases(context, statement);
  const MakeDraft make = [&](CatalogDraft& draft) {
    if (statement.defaults) return change_default_privileges(draft, statement);
    check_grantor(*sql::known_roles(), draft.session(), statement);
    const std::vector<sql::ObjectAddress> objects = granted_objects(draft, statement);
    const PrivilegeChange change = privilege_change(*sql::known_roles(), draft.session(), statement);
    const bool named_as_table = statement.object == ast::ObjectType::kTable;
    for (const sql::ObjectAddress& object : objects) change_privileges(draft, change, object, named_as_table);
  };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
