// DROP ROLE, USER, GROUP: refused while an object in any database depends on the role.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "executor/ddl/role_dependents.h"
#include "executor/ddl/role_draft.h"
#include "executor/ddl/role_statements.h"
#include "executor/runtime/session_context.h"
#include "executor/storage/catalog_store.h"
#include "executor/storage/databases.h"
#include "executor/transaction/transaction_catalog.h"
#include "parser/role_name.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

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
    LoadedCatalog loaded;
    if (*number == context.database) loaded = co_await load_definitions(context);  // with the transaction's own
    else loaded = co_await load_catalog(context.access->shared(*number));
    catalogs.push_back({name, *number, loaded.snapshot});
  }
  co_return catalogs;
}

/// Joins the lines. Of more than a hundred the rest is counted; the log has them all.
std::string shortened(std::vector<std::string> lines, std::vector<std::string> databases, const std::string& role) {
  constexpr std::size_t kMostReported = 100;
  if (lines.size() + databases.size() > kMostReported) {
    spdlog::info("role {} is kept by: {}; {}", role, fmt::join(lines, "; "), fmt::join(databases, "; "));
  }
  const std::size_t more_objects = lines.size() > kMostReported ? lines.size() - kMostReported : 0;
  lines.resize(lines.size() - more_objects);
  const std::size_t most_databases = kMostReported - lines.size();
  const std::size_t more_databases = databases.size() > most_databases ? databases.size() - most_databases : 0;
  databases.resize(databases.size() - more_databases);
  lines.insert(lines.end(), databases.begin(), databases.end());
  if (more_objects > 0) lines.push_back(fmt::format("and {} other object{} (see server log for list)", more_objects, more_objects == 1 ? "" : "s"));
  if (more_databases > 0) {
    lines.push_back(fmt::format("and objects in {} other database{} (see server log for list)", more_databases, more_databases == 1 ? "" : "s"));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

/// Returns what depends on a role, a line for each object of the session's database and one for each other database.
std::string dependents_of(const RoleDraft& draft, const std::vector<DatabaseCatalog>& catalogs, const DdlContext& context, sql::Oid role) {
  std::vector<std::string> lines, others;
  for (const auto& [database, facts] : draft.roles.databases()) {
    if (facts.owner == role) lines.push_back(fmt::format("owner of database {}", database));
    if (names_role(facts.acl, facts.owner, role)) lines.push_back(fmt::format("privileges for database {}", database));
  }
  for (const DatabaseCatalog& database : catalogs) {
    const std::vector<RoleDependency> dependencies = role_dependencies(*database.catalog, role);
    if (database.number != context.database) {
      const std::size_t count = dependencies.size();
      if (count > 0) others.push_back(fmt::format("{} object{} in database {}", count, count == 1 ? "" : "s", database.name));
      continue;
    }
    const sql::EvaluationContext evaluation = definition_context(context.session, *database.catalog);
    for (const RoleDependency& dependency : dependencies) lines.push_back(describe(dependency, evaluation));
  }
  return shortened(std::move(lines), std::move(others), draft.roles.name_of(role));
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
        if (name == parser::kCurrentUser || name == parser::kSessionUser || name == "public") {
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
      // An object that another session gives the role meanwhile moves the version of its database. A transaction's commit compares the
      // version of its own database in any case.
      for (const DatabaseCatalog& database : catalogs) {
        if (context.session.transaction && database.number == context.database) continue;
        draft.require_unchanged(database.number, database.catalog->version);
      }
    };
    if (co_await try_change_roles(context, make)) co_return;
  }
  throw SqlError(sqlstate::kSerializationFailure, "could not change the roles due to concurrent changes");
}

}  // namespace redquel::executor
