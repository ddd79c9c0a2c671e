#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/new_owner.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/privileges.h"
#include "executor/ddl/role_draft.h"
#include "executor/ddl/role_setting.h"
#include "executor/ddl/type_lookup.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

std::string role_meant(const SessionState& session, const std::string& role) {
  if (role == "current_role" || role == "current_user") return session.user;
  if (role != "session_user") return role;
  const std::optional<std::string> name = session.show ? session.show("session_authorization") : std::nullopt;
  return name.value_or(session.user);
}

void require_role(const SessionState& session, const std::string& role) {
  require_role(*sql::known_roles(), session, role);
}

std::string new_owner(const SessionState& session, const std::string& name) {
  const sql::RoleSet& roles = *sql::known_roles();
  const sql::RoleDef& role = require_role(roles, session, name);
  if (!roles.may_become(current_role(roles, session), role.oid, session.database)) {
    throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("must be member of role \"{}\"", role.name));
  }
  return sql::owner_reference(role.oid);
}

namespace {

void require_granted_schema(const CatalogDraft& draft, const std::string& schema) {
  if (is_system_schema(schema) || draft.catalog().schemas.contains(schema)) return;
  throw sql::undefined_schema(schema);
}

void check_granted_objects(CatalogDraft& draft, const ast::Grant& statement) {
  const bool are_relations = statement.object == ast::ObjectType::kTable || statement.object == ast::ObjectType::kSequence;
  for (const ast::ObjectName& object : statement.objects) {
    if (are_relations && !statement.all_in_schema) {
      const ast::RelationName name = relation_name(object.names);
      if (relation_kind(draft, name) == RelationKind::kNone) throw missing_relation(draft, name);
    } else if (is_routine(statement.object) && !statement.all_in_schema) {
      require_function(draft, object, statement.object);
    } else if (statement.object == ast::ObjectType::kType || statement.object == ast::ObjectType::kDomain) {
      require_type(draft, object.names);
    } else if (are_relations || statement.object == ast::ObjectType::kSchema) {
      require_granted_schema(draft, object.names.back());
    }
  }
}

/// 42703 for a column that the table does not have; 0LP01 for what sequences have and tables do not.
void check_granted_columns(const CatalogDraft& draft, const ast::Grant& statement) {
  if (statement.object != ast::ObjectType::kTable || statement.all_in_schema) return;
  for (const ast::ObjectName& object : statement.objects) {
    const ast::RelationName name = relation_name(object.names);
    if (relation_kind(draft, name) != RelationKind::kTable) continue;
    const TablePtr table = require_table(draft, name);
    for (const ast::Privilege& privilege : statement.privileges) {
      if (privilege.name == "usage") throw SqlError(sqlstate::kInvalidGrantOperation, "invalid privilege type USAGE for table");
      for (const std::string& column : privilege.columns) {
        if (table->find_column(column) != nullptr || is_system_column(column)) continue;
        throw sql::undefined_column(column, table->name);
      }
    }
  }
}

}  // namespace

/// Changes nothing until there are privileges.
asio::awaitable<void> run(DdlContext& context, const ast::Grant& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    if (!statement.defaults) check_granted_objects(draft, statement);
    for (const std::string& role : statement.grantees) {
      if (role != "public") require_role(draft.session(), role);
    }
    check_privileges(statement);
    for (const std::string& role : statement.makers) require_role(draft.session(), role);
    if (!statement.schemas.empty() && statement.object == ast::ObjectType::kSchema) {
      throw SqlError(sqlstate::kInvalidGrantOperation, "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS");
    }
    for (const std::string& schema : statement.schemas) require_granted_schema(draft, schema);
    if (!statement.defaults) check_granted_columns(draft, statement);
    check_grant_option(statement);
  };
  co_await change_catalog(context, make);
}

/// ALTER SCHEMA, FUNCTION, TYPE, DOMAIN … OWNER TO.
asio::awaitable<void> run(DdlContext& context, const ast::AlterOwner& statement) {
  const bool is_function = is_routine(statement.object), is_domain = statement.object == ast::ObjectType::kDomain;
  const bool is_type = is_domain || statement.object == ast::ObjectType::kType;
  if (statement.object == ast::ObjectType::kDatabase) co_return co_await change_database_owner(context, statement);
  if (statement.object != ast::ObjectType::kSchema && !is_function && !is_type) throw sql::not_supported("OWNER TO of this kind of object");
  const MakeDraft make = [&](CatalogDraft& draft) {
    if (is_type) {
      const ast::QualifiedName& names = statement.name.names;
      sql::UserType type = is_domain ? *require_domain(draft, names) : *require_type(draft, names);
      type.owner = new_owner(draft.session(), statement.role);
      return draft.put(std::move(type));
    }
    if (is_function) {
      sql::FunctionDef function = *require_function(draft, statement.name, statement.object);
      function.owner = new_owner(draft.session(), statement.role);
      return draft.put(std::move(function));
    }
    const std::string& name = statement.name.names.back();
    const auto found = draft.catalog().schemas.find(name);
    if (found == draft.catalog().schemas.end()) throw sql::undefined_schema(name);
    sql::SchemaDef schema = found->second;
    schema.owner = new_owner(draft.session(), statement.role);
    draft.put(std::move(schema));
  };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
