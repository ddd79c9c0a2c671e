#include "executor/ddl/extension.h"

#include <fmt/format.h>

#include "executor/catalog/default_privileges.h"
#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/definition_rights.h"
#include "executor/ddl/dependents.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/table_parts.h"
#include "executor/roles/access.h"
#include "planner/bind/sql_function.h"
#include "sql/extensions/extension.h"
#include "sql/name_errors.h"
#include "sql/privileges/held_rights.h"
#include "sql/privileges/object_acl.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// 22023 for names that no file of PostgreSQL could have.
void check_extension_name(const std::string& name) {
  std::string_view reason;
  if (name.find("--") != std::string::npos) reason = "must not contain \"--\".";
  else if (name.starts_with("-") || name.ends_with("-")) reason = "must not begin or end with \"-\".";
  else if (name.find('/') != std::string::npos) reason = "must not contain directory separator characters.";
  if (reason.empty()) return;
  throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid extension name: \"{}\"", name)).detail(fmt::format("Extension names {}", reason));
}

const sql::Extension& available_extension(const ast::CreateExtension& statement) {
  const sql::Extension* extension = sql::find_extension(statement.name);
  if (extension == nullptr) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("extension \"{}\" is not available", statement.name))
        .detail("redquel has no extension of this name.")
        .hint("The view pg_available_extensions lists the extensions.");
  }
  if (!statement.version.empty() && statement.version != extension->version) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("extension \"{}\" has no installation script nor update path for version \"{}\"",
                                                                 statement.name, statement.version));
  }
  return *extension;
}

/// 42501 unless the session's role may create the extension.
void require_extension_creation(const CatalogDraft& draft, const sql::Extension& extension) {
  const sql::RoleSet& roles = *sql::known_roles();
  const SessionState& session = draft.session();
  if (is_superuser(roles, session)) return;
  const sql::Rights held = sql::held_rights(sql::acl_of_database(roles, session.database), current_role(roles, session), roles, session.database);
  if (extension.trusted && (held & sql::right::kCreate) != 0) return;
  throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied to create extension \"{}\"", extension.name))
      .hint(extension.trusted ? "Must have CREATE privilege on current database to create this extension." : "Must be superuser to create this extension.");
}

void make_extension(CatalogDraft& draft, const ast::CreateExtension& statement) {
  check_extension_name(statement.name);
  if (draft.catalog().find_extension(statement.name) != nullptr) {
    const std::string message = fmt::format("extension \"{}\" already exists", statement.name);
    if (!statement.if_not_exists) throw SqlError(sqlstate::kDuplicateObject, message);
    return draft.notice(sqlstate::kDuplicateObject, message + ", skipping");
  }
  const sql::Extension& extension = available_extension(statement);
  if (is_system_schema(statement.schema)) throw sql::not_supported("CREATE EXTENSION … SCHEMA " + statement.schema);
  std::string schema;
  without_positions([&] {
    ast::RelationName place;
    place.schema = statement.schema;
    schema = creation_schema(draft, place);
  });
  sql::ExtensionDef definition{.oid = draft.new_oid(),
                               .name = statement.name,
                               .schema = std::move(schema),
                               .version = std::string(extension.version),
                               .comment = std::string(extension.comment)};
  require_extension_creation(draft, extension);
  const sql::RoleSet& roles = *sql::known_roles();
  const sql::Oid role = current_role(roles, draft.session());
  definition.owner = sql::owner_reference(role);
  // The members of a trusted extension belong to the first superuser, as if that one had created them.
  const sql::Oid owner = is_superuser(roles, draft.session()) ? role : sql::kPostgresRole;
  const DependentChanges rights_are_checked;
  for (const sql::ExtensionFunction& row : extension.functions) {
    sql::FunctionDef function = sql::definition_of(row, definition);
    if (find_same_function(draft, function)) {
      throw SqlError(sqlstate::kDuplicateFunction, fmt::format("function \"{}\" already exists with same argument types", function.name));
    }
    function.oid = draft.new_oid();
    function.owner = sql::owner_reference(owner);
    function.acl = default_privileges(draft, sql::AclKind::kFunction, owner, function.schema);
    draft.put(std::move(function));
  }
  draft.put(std::move(definition));
}

std::vector<std::shared_ptr<const sql::FunctionDef>> members_of(const sql::CatalogSnapshot& catalog, sql::Oid extension) {
  std::vector<std::shared_ptr<const sql::FunctionDef>> members;
  for (const auto& [oid, function] : catalog.functions) {
    if (function->extension == extension) members.push_back(function);
  }
  return members;
}

bool is_built_in(const sql::ExtensionDef& extension) { return extension.oid == sql::kPlpgsqlExtension || extension.oid == sql::kRedquelExtension; }

}  // namespace

const sql::ExtensionDef& require_extension(const CatalogDraft& draft, const std::string& name) {
  const sql::ExtensionDef* extension = draft.catalog().find_extension(name);
  if (extension == nullptr) throw SqlError(sqlstate::kUndefinedObject, fmt::format("extension \"{}\" does not exist", name));
  return *extension;
}

void drop_with_members(CatalogDraft& draft, sql::Oid extension) {
  for (const auto& member : members_of(draft.catalog(), extension)) draft.drop_function(member->oid);
  draft.drop_extension(extension);
}

void drop_extensions(CatalogDraft& draft, const ast::Drop& statement) {
  std::vector<DropObject> targets;
  for (const ast::ObjectName& object : statement.names) {
    const std::string& name = object.names.back();
    if (statement.if_exists && draft.catalog().find_extension(name) == nullptr) {
      draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("extension \"{}\" does not exist, skipping", name));
      continue;
    }
    const sql::ExtensionDef& extension = require_extension(draft, name);
    require_owner(draft.session(), extension.owner, "extension", name);
    if (is_built_in(extension)) throw sql::not_supported("DROP EXTENSION " + name);
    targets.push_back({DropObject::Kind::kExtension, extension.oid});
  }
  if (targets.empty()) return;
  const DependentChanges rights_are_checked;
  drop_dependents(draft, targets, statement.cascade);
  for (const DropObject& target : targets) {
    if (draft.catalog().extensions.contains(target.oid)) drop_with_members(draft, target.oid);
  }
}

void move_extension(CatalogDraft& draft, const ast::SetSchema& statement) {
  sql::ExtensionDef extension = require_extension(draft, statement.name.names.back());
  if (!draft.catalog().schemas.contains(statement.new_schema) && !is_system_schema(statement.new_schema)) {
    throw sql::undefined_schema(statement.new_schema);
  }
  if (!is_system_schema(statement.new_schema)) require_creation(draft.catalog(), draft.session(), statement.new_schema);
  require_owner(draft.session(), extension.owner, "extension", extension.name);
  if (is_built_in(extension)) throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("extension \"{}\" does not support SET SCHEMA", extension.name));
  if (is_system_schema(statement.new_schema)) throw sql::not_supported("SET SCHEMA " + statement.new_schema);
  if (extension.schema == statement.new_schema) return;
  const DependentChanges rights_are_checked;
  for (const auto& member : members_of(draft.catalog(), extension.oid)) {
    if (member->schema != extension.schema) {
      throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("extension \"{}\" does not support SET SCHEMA", extension.name))
          .detail(fmt::format("{} is not in the extension's schema \"{}\"", describe(draft, {DropObject::Kind::kFunction, member->oid}), extension.schema));
    }
    sql::FunctionDef function = *member;
    function.schema = statement.new_schema;
    replace_function(draft, *member, std::move(function));
  }
  extension.schema = statement.new_schema;
  draft.put(std::move(extension));
}

void check_no_member(const CatalogDraft& draft, const sql::FunctionDef& function) {
  const auto found = draft.catalog().extensions.find(function.extension);
  if (found == draft.catalog().extensions.end()) return;
  throw SqlError(sqlstate::kDependentObjectsStillExist, fmt::format("cannot drop {} because extension {} requires it",
                                                                    describe(draft, {DropObject::Kind::kFunction, function.oid}), found->second.name))
      .hint(fmt::format("You can drop extension {} instead.", found->second.name));
}

asio::awaitable<void> run(DdlContext& context, const ast::CreateExtension& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) { make_extension(draft, statement); };
  co_await change_catalog(context, make);
}

asio::awaitable<void> run(DdlContext& context, const ast::AlterExtension& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    const sql::ExtensionDef& extension = require_extension(draft, statement.name);
    require_owner(draft.session(), extension.owner, "extension", statement.name);
    const sql::Extension* known = sql::find_extension(statement.name);
    const std::string version = !statement.version.empty() || known == nullptr ? statement.version : std::string(known->version);
    if (version == extension.version) {
      return draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("version \"{}\" of extension \"{}\" is already installed", version, statement.name));
    }
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("extension \"{}\" has no update path from version \"{}\" to version \"{}\"",
                                                                 statement.name, extension.version, version));
  };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
