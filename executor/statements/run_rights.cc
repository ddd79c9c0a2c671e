#include "executor/statements/run_rights.h"

#include "executor/roles/access.h"
#include "executor/statements/written_tables.h"

namespace redquel::executor {

asio::awaitable<void> check_rights(RedisEngine& engine, PreparedPtr prepared, SessionState& session, sql::CatalogPtr catalog) {
  const PreparedPlan& plan = *prepared->plan;
  if (plan.planned.rights.depends_on_role && plan.role != session.role) throw StaleCatalog{};
  if (!has_access(plan.planned, session, *catalog)) {
    const sql::CatalogPtr newest = co_await engine.newest_catalog(session);
    if (newest->version != plan.catalog_version) throw StaleCatalog{};
    check_access(plan.planned, session, *newest);
  }
  check_replica_identity(plan.planned, *catalog);
  plan.checked_role = session.role;
  plan.checked_roles = sql::known_roles();
}

asio::awaitable<PreparedPtr> with_checked_rights(RedisEngine& engine, PreparedPtr prepared, SessionState& session) {
  prepared = co_await engine.refresh(prepared, session);
  sql::CatalogPtr catalog = co_await engine.catalog(session);
  bool is_stale = false;
  try {
    co_await check_rights(engine, prepared, session, catalog);
  } catch (const StaleCatalog&) {
    is_stale = true;
  }
  if (!is_stale) co_return prepared;
  prepared = co_await engine.replan(*prepared, session);
  catalog = co_await engine.catalog(session);
  check_access(prepared->plan->planned, session, *catalog);
  co_return prepared;
}

}  // namespace redquel::executor
