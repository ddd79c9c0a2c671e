// DROP ROLE, USER, GROUP: refused while an object in any database has the role as its owner.

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/role_draft.h"
#include "executor/ddl/role_statements.h"
#include "executor/runtime/session_context.h"
#include "executor/storage/catalog_store.h"
#include "executor/storage/databases.h"
#include "sql/functions/object_description.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/relations.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// The definitions of one database.
struct DatabaseCatalog {
  std::string name;
  int number = 0;
  sql::CatalogPtr catalog;
};

asio::awaitable<std::vector<DatabaseCatalog>> load_all_catalogs(DdlContext& context) {
  std::vector<DatabaseCatalog> catalogs;
  const std::vector<std::string> names = co_await list_databases(context.home);
  for (const std::string& name : names) {
    std::optional<int> number = home_database().number;
    if (name != kHomeDatabase) number = co_await find_database(context.home, name);
    if (!number) continue;  // dropped meanwhile
    const LoadedCatalog loaded = co_await load_catalog(context.access->shared(*number));
    catalogs.push_back({name, *number, loaded.snapshot});
  }
  co_return catalogs;
}

/// Returns the objects that a role owns, in the order of their oids.
std::vector<sql::ObjectAddress> objects_of(const sql::CatalogSnapshot& catalog, sql::Oid role) {
  std::vector<sql::ObjectAddress> objects;
  const auto add = [&](sql::Oid in_catalog, const auto& definition) {
    if (sql::owner_role(definition.owner) == role) objects.push_back({in_catalog, definition.oid});
  };
  namespace catalogs = sql::catalogs;
  for (const auto& [name, schema] : catalog.schemas) {
    if (!sql::is_temporary_schema(name)) add(catalogs::kSchemas, schema);
  }
  for (const auto& [oid, table] : catalog.tables) add(catalogs::kRelations, *table);
  for (const auto& [oid, sequence] : catalog.sequences) {
    if (sequence.owner_table != 0 && sql::owner_role(sql::owner_of(catalog, sequence)) == role) objects.push_back({catalogs::kRelations, oid});
  }
  for (const auto& [oid, view] : catalog.views) add(catalogs::kRelations, *view);
  for (const auto& [oid, function] : catalog.functions) add(catalogs::kFunctions, *function);
  for (const auto& [oid, type] : catalog.types) add(catalogs::kTypes, *type);
  std::ranges::stable_sort(objects, {}, &sql::ObjectAddress::object);
  return objects;
}

/// Returns what depends on a role, a line for each object of the session's database and one for each other database.
std::string dependents_of(const RoleDraft& draft, const std::vector<DatabaseCatalog>& catalogs, const DdlContext& context, sql::Oid role) {
  std::vector<std::string> lines, others;
  for (const auto& [database, facts] : draft.roles.databases()) {
    if (facts.owner == role) lines.push_back(fmt::format("owner of database {}", database));
  }
  for (const DatabaseCatalog& database : catalogs) {
    const std::vector<sql::ObjectAddress> objects = objects_of(*database.catalog, role);
    if (database.number != context.database) {
      if (!objects.empty()) others.push_back(fmt::format("{} object{} in database {}", objects.size(), objects.size() == 1 ? "" : "s", database.name));
      continue;
    }
    const sql::EvaluationContext evaluation = definition_context(context.session, *database.catalog);
    for (const sql::ObjectAddress& object : objects) {
      lines.push_back("owner of " + sql::describe_object(object, evaluation).value_or("an object"));
    }
  }
  lines.insert(lines.end(), others.begin(), others.end());
  return fmt::format("{}", fmt::join(lines, "\n"));
}

void check_may_drop(const RoleDraft& draft, const sql::RoleDef& role) {
  if (role.oid == draft.current_role()) throw SqlError(sqlstate::kObjectInUse, "current user cannot be dropped");
  if (role.oid == session_role(draft.base(), draft.session())) throw SqlError(sqlstate::kObjectInUse, "session user cannot be dropped");
  if (role.superuser && !draft.is_superuser()) throw SqlError(sqlstate::kInsufficientPrivilege, "must be superuser to drop superusers");
  if (role.oid < sql::kFirstRoleOid) {
    throw SqlError(sqlstate::kDependentObjectsStillExist,
                   fmt::format("cannot drop role {} because it is required by the database system", role.name));
  }
}

void drop(RoleDraft& draft, sql::Oid role) {
  draft.roles.drop_role(role);
  draft.drop_verifier(role);
  std::vector<std::pair<sql::Oid, sql::Oid>> memberships;
  for (const auto& [key, membership] : draft.roles.memberships()) {
    if (key.first == role || key.second == role) memberships.push_back(key);
  }
  for (const auto& [of, member] : memberships) draft.roles.drop_membership(of, member);
  std::vector<std::pair<std::string, sql::Oid>> settings;
  for (const auto& [key, setting] : draft.roles.settings()) {
    if (key.second == role) settings.push_back(key);
  }
  for (const auto& [database, of] : settings) draft.roles.drop_setting(database, of);
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::DropRole& statement) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::vector<DatabaseCatalog> catalogs = co_await load_all_catalogs(context);
    const MakeRoles make = [&](RoleDraft& draft) {
      if (!draft.may_create_roles()) throw SqlError(sqlstate::kInsufficientPrivilege, "permission denied to drop role");
      for (const std::string& name : statement.names) {
        if (name == "current_user" || name == "current_role" || name == "session_user" || name == "public") {
          throw SqlError(sqlstate::kInvalidParameterValue, "cannot use special role specifier in DROP ROLE");
        }
        const sql::RoleDef* role = draft.roles.find(name);
        if (role == nullptr) {
          if (!statement.if_exists) throw sql::undefined_role(name);
          draft.notice("NOTICE", SqlError(sqlstate::kSuccessfulCompletion, fmt::format("role \"{}\" does not exist, skipping", name)));
          continue;
        }
        check_may_drop(draft, *role);
        std::string dependents = dependents_of(draft, catalogs, context, role->oid);
        if (!dependents.empty()) {
          throw SqlError(sqlstate::kDependentObjectsStillExist,
                         fmt::format("role \"{}\" cannot be dropped because some objects depend on it", name))
              .detail(std::move(dependents));
        }
        drop(draft, role->oid);
      }
      // An object that another session gives the role meanwhile moves the version of its database.
      for (const DatabaseCatalog& database : catalogs) draft.require_unchanged(database.number, database.catalog->version);
    };
    if (co_await try_change_roles(context, make)) co_return;
  }
  throw SqlError(sqlstate::kSerializationFailure, "could not change the roles due to concurrent changes");
}

}  // namespace redquel::executor
