#include "executor/ddl/default_acl_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "executor/catalog/default_privileges.h"
#include "executor/ddl/privileges.h"
#include "executor/ddl/role_draft.h"
#include "sql/name_errors.h"
#include "sql/privileges/grants.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/relations.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// The change that one ALTER DEFAULT PRIVILEGES makes to each of its entries.
struct DefaultAclChange {
  bool is_grant = true, grant_option = false, cascade = false;
  sql::AclKind kind = sql::AclKind::kTable;
  sql::Rights rights = 0;
  std::vector<sql::Oid> grantees;
};

sql::AclKind kind_of(ast::ObjectType object) {
  switch (object) {
    case ast::ObjectType::kSequence: return sql::AclKind::kSequence;
    case ast::ObjectType::kFunction:
    case ast::ObjectType::kProcedure:
    case ast::ObjectType::kRoutine: return sql::AclKind::kFunction;
    case ast::ObjectType::kType: return sql::AclKind::kType;
    case ast::ObjectType::kSchema: return sql::AclKind::kSchema;
    default: return sql::AclKind::kTable;
  }
}

/// `schema`: 0 for all of them. An entry that says what holds without it goes.
void change_entry(CatalogDraft& draft, const DefaultAclChange& change, sql::Oid role, sql::Oid schema) {
  const char letter = default_acl_letter(change.kind);
  const auto& entries = draft.catalog().default_acls;
  const auto found = std::ranges::find_if(entries, [&](const auto& entry) {
    return entry.second.role == role && entry.second.schema == schema && entry.second.kind == letter;
  });
  const sql::Acl without_entry = schema == 0 ? sql::default_acl(change.kind, role) : sql::Acl();
  const bool is_new = found == entries.end();
  const sql::AclOwner owner{role, *sql::known_roles(), draft.session().database};
  sql::Acl acl = is_new ? without_entry : found->second.acl;
  acl = change.is_grant ? sql::grant(std::move(acl), change.grantees, role, change.rights, change.grant_option, owner)
                        : sql::revoke(std::move(acl), change.grantees, role, change.rights, change.grant_option, change.cascade, owner);
  if (sql::has_same_items(acl, without_entry)) {
    if (!is_new) draft.drop_default_acl(sql::Oid(found->first));
    return;
  }
  std::ranges::sort(acl, {}, [](const sql::AclItem& item) { return std::tuple(item.grantee, item.grantor, item.rights, item.grantable); });
  const sql::Oid oid = is_new ? draft.new_oid() : found->first;
  draft.put(sql::DefaultAclDef{.oid = oid, .role = role, .schema = schema, .kind = letter, .acl = std::move(acl)});
}

void change_entries(CatalogDraft& draft, const DefaultAclChange& change, sql::Oid role, const std::vector<std::string>& schemas) {
  if (schemas.empty()) return change_entry(draft, change, role, 0);
  for (const std::string& name : schemas) {
    const sql::Oid schema = sql::schema_oid(draft.catalog(), name);
    if (schema == 0) throw sql::undefined_schema(name);
    if (change.kind == sql::AclKind::kSchema) {
      throw SqlError(sqlstate::kInvalidGrantOperation, "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS");
    }
    change_entry(draft, change, role, schema);
  }
}

}  // namespace

void change_default_privileges(CatalogDraft& draft, const ast::Grant& statement) {
  const sql::RoleSet& roles = *sql::known_roles();
  const SessionState& session = draft.session();
  DefaultAclChange change{.is_grant = statement.grant, .grant_option = statement.grant_option, .cascade = statement.cascade,
                          .kind = kind_of(statement.object)};
  change.grantees = grantees_of(roles, session, statement);
  const WrittenRights written = written_rights(statement);
  change.rights = written.is_all ? sql::all_rights(change.kind) : written.rights;
  const sql::Oid current = current_role(roles, session);
  if (statement.makers.empty()) return change_entries(draft, change, current, statement.schemas);
  for (const std::string& maker : statement.makers) {
    const sql::RoleDef& role = require_role(roles, session, maker);
    if (!roles.may_become(current, role.oid, session.database)) {
      throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("must be member of role \"{}\"", role.name));
    }
    change_entries(draft, change, role.oid, statement.schemas);
  }
}

void revoke_default_privileges(CatalogDraft& draft, sql::Oid oid, sql::Oid role) {
  const auto found = draft.catalog().default_acls.find(oid);
  if (found == draft.catalog().default_acls.end()) return;
  const sql::DefaultAclDef entry = found->second;
  const sql::AclKind kind = kind_of_default_acl(entry.kind);
  const DefaultAclChange change{.is_grant = false, .cascade = true, .kind = kind, .rights = sql::all_rights(kind), .grantees = {role}};
  change_entry(draft, change, entry.role, entry.schema);
}

}  // namespace redquel::executor
