// ALTER … OWNER TO.

#include <fmt/format.h>

#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/new_owner.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/publication.h"
#include "executor/ddl/role_draft.h"
#include "executor/ddl/role_setting.h"
#include "executor/ddl/type_lookup.h"
#include "executor/roles/access.h"
#include "sql/name_errors.h"
#include "sql/privileges/grants.h"
#include "sql/privileges/held_rights.h"
#include "sql/privileges/object_acl.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/foreign_options.h"
#include "sql/system_tables/relations.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

void require_membership(const sql::RoleDef& role, const SessionState& session) {
  const sql::RoleSet& roles = *sql::known_roles();
  if (!roles.may_become(current_role(roles, session), role.oid, session.database)) {
    throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("must be member of role \"{}\"", role.name));
  }
}

void follow_owner(sql::OptionalAcl& acl, sql::Oid from, sql::Oid to) {
  if (acl) acl = sql::change_owner(*acl, from, to);
}

template <typename Definition>
void give(Definition& definition, sql::Oid role) {
  follow_owner(definition.acl, sql::owner_role(definition.owner), role);
  definition.owner = sql::owner_reference(role);
}

void change_type_owner(CatalogDraft& draft, const ast::AlterOwner& statement) {
  const ast::QualifiedName& names = statement.name.names;
  const ast::RelationName name = relation_name(names);
  const TablePtr table = draft.catalog().find_table(name.schema, name.name, draft.session().search_path);
  if (table && !find_type(draft, names)) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("{} is a table's row type", display_name(draft, table->schema, table->name))).hint("Use ALTER TABLE instead.");
  }
  sql::UserType type = statement.object == ast::ObjectType::kDomain ? *require_domain(draft, names) : *require_type(draft, names);
  require_owner(draft.session(), type.owner, "type", sql::format_type(sql::Type{type.oid}));
  give_to(type, new_owner_in_schema(draft, statement.role, type.owner, type.schema));
  draft.put(std::move(type));
}

void change_function_owner(CatalogDraft& draft, const ast::AlterOwner& statement) {
  sql::FunctionDef function = *require_function(draft, statement.name, statement.object);
  require_owner(draft.session(), function.owner, function.procedure ? "procedure" : "function", function.name);
  give_to(function, new_owner_in_schema(draft, statement.role, function.owner, function.schema));
  draft.put(std::move(function));
}

void change_schema_owner(CatalogDraft& draft, const ast::AlterOwner& statement) {
  const std::string& name = statement.name.names.back();
  const auto found = draft.catalog().schemas.find(name);
  if (found == draft.catalog().schemas.end()) throw sql::undefined_schema(name);
  sql::SchemaDef schema = found->second;
  const SessionState& session = draft.session();
  const sql::RoleDef& role = require_role(*sql::known_roles(), session, statement.role);
  if (role.oid == sql::owner_role(schema.owner)) return;
  require_owner(session, schema.owner, "schema", name);
  require_membership(role, session);
  require_schema_creation(session);
  give_to(schema, role.oid);
  draft.put(std::move(schema));
}

void change_server_owner(CatalogDraft& draft, const ast::AlterOwner& statement) {
  const std::string& name = statement.name.names.back();
  if (name != "redis") throw SqlError(sqlstate::kUndefinedObject, fmt::format("server \"{}\" does not exist", name));
  sql::ForeignServerDef server = draft.catalog().server;
  const SessionState& session = draft.session();
  const sql::RoleSet& roles = *sql::known_roles();
  const sql::RoleDef& role = require_role(roles, session, statement.role);
  if (role.oid == sql::owner_role(server.owner)) return;
  require_owner(session, server.owner, "foreign server", name);
  require_membership(role, session);
  if (!is_superuser(roles, session)) {
    require_any_right(role.oid, session.database, draft.catalog(), sql::AclKind::kForeignDataWrapper, sql::kRedisWrapper, sql::right::kUsage);
  }
  give_to(server, role.oid);
  draft.put(std::move(server));
}

void change_publication_owner(CatalogDraft& draft, const ast::AlterOwner& statement) {
  sql::PublicationDef publication = require_publication(draft, statement.name.names.back());
  const SessionState& session = draft.session();
  const sql::RoleSet& roles = *sql::known_roles();
  const sql::RoleDef& role = require_role(roles, session, statement.role);
  if (role.oid == sql::owner_role(publication.owner)) return;
  if (!is_superuser(roles, session)) {
    require_owner(session, publication.owner, "publication", publication.name);
    require_membership(role, session);
    const sql::Rights held = sql::held_rights(sql::acl_of_database(roles, session.database), role.oid, roles, session.database);
    if ((held & sql::right::kCreate) == 0) throw sql::permission_denied("database", session.database);
    check_publication_owner(publication, role);
  }
  publication.owner = sql::owner_reference(role.oid);
  draft.put(std::move(publication));
}

}  // namespace

std::string new_owner(const SessionState& session, const std::string& name) {
  const sql::RoleDef& role = require_role(*sql::known_roles(), session, name);
  require_membership(role, session);
  return sql::owner_reference(role.oid);
}

void require_creation_by(const CatalogDraft& draft, sql::Oid role, std::string_view schema) {
  const SessionState& session = draft.session();
  if (is_superuser(*sql::known_roles(), session) || sql::is_temporary_schema(schema)) return;
  const sql::Oid oid = sql::schema_oid(draft.catalog(), schema);
  require_any_right(role, session.database, draft.catalog(), sql::AclKind::kSchema, oid, sql::right::kCreate);
}

sql::Oid new_owner_in_schema(const CatalogDraft& draft, const std::string& name, const std::string& owner, std::string_view schema) {
  const sql::RoleSet& roles = *sql::known_roles();
  const SessionState& session = draft.session();
  const sql::RoleDef& role = require_role(roles, session, name);
  if (role.oid == sql::owner_role(owner) || is_superuser(roles, session)) return role.oid;
  require_membership(role, session);
  require_creation_by(draft, role.oid, schema);
  return role.oid;
}

void give_to(CatalogDraft& draft, sql::TableDef& table, sql::Oid role) {
  const sql::Oid from = sql::owner_role(table.owner);
  if (from == role && !sql::is_before_roles(table.owner)) return;
  give(table, role);
  for (sql::ColumnDef& column : table.columns) follow_owner(column.acl, from, role);
  const DependentChanges sequences_follow;
  for (const sql::Oid oid : draft.catalog().sequences_of(table.oid)) {
    sql::SequenceDef sequence = draft.catalog().sequences.at(oid);
    follow_owner(sequence.acl, from, role);
    draft.put(std::move(sequence));
  }
}

void give_to(sql::ViewDef& view, sql::Oid role) {
  for (sql::ViewDef::Column& column : view.columns) follow_owner(column.acl, sql::owner_role(view.owner), role);
  give(view, role);
}

void give_to(sql::SequenceDef& sequence, sql::Oid from, sql::Oid role) {
  follow_owner(sequence.acl, from, role);
  sequence.owner = sql::owner_reference(role);
}

void give_to(sql::FunctionDef& function, sql::Oid role) { give(function, role); }
void give_to(sql::UserType& type, sql::Oid role) { give(type, role); }
void give_to(sql::SchemaDef& schema, sql::Oid role) {
  schema.acl = sql::acl_of(schema).acl;  // the schema public begins with grants of its first owner
  give(schema, role);
}
void give_to(sql::ForeignServerDef& server, sql::Oid role) { give(server, role); }

void change_sequence_owner(CatalogDraft& draft, const sql::SequenceDef& before, const std::string& role) {
  const std::string owner = sql::owner_of(draft.catalog(), before);
  require_owner(draft.session(), owner, "sequence", before.name);
  const sql::RoleDef& wanted = require_role(*sql::known_roles(), draft.session(), role);
  if (wanted.oid == sql::owner_role(owner)) return;
  if (const auto table = draft.catalog().find_table(before.owner_table)) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot change owner of sequence \"{}\"", before.name))
        .detail(fmt::format("Sequence \"{}\" is linked to table \"{}\".", before.name, table->name));
  }
  sql::SequenceDef sequence = before;
  give_to(sequence, sql::owner_role(owner), new_owner_in_schema(draft, role, owner, before.schema));
  draft.put(std::move(sequence));
}

/// ALTER SCHEMA, FUNCTION, TYPE, DOMAIN, SERVER, PUBLICATION, DATABASE … OWNER TO.
asio::awaitable<void> run(DdlContext& context, const ast::AlterOwner& statement) {
  using Change = void (*)(CatalogDraft&, const ast::AlterOwner&);
  Change change = nullptr;
  switch (statement.object) {
    case ast::ObjectType::kDatabase: co_return co_await change_database_owner(context, statement);
    case ast::ObjectType::kType:
    case ast::ObjectType::kDomain: change = change_type_owner; break;
    case ast::ObjectType::kFunction:
    case ast::ObjectType::kProcedure:
    case ast::ObjectType::kRoutine: change = change_function_owner; break;
    case ast::ObjectType::kSchema: change = change_schema_owner; break;
    case ast::ObjectType::kPublication: change = change_publication_owner; break;
    case ast::ObjectType::kForeignServer: change = change_server_owner; break;
    default: throw sql::not_supported("OWNER TO of this kind of object");
  }
  const MakeDraft make = [&](CatalogDraft& draft) { change(draft, statement); };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
