#include "executor/statements/refused_access.h"

#include "executor/roles/access.h"

namespace redquel::executor {

asio::awaitable<void> refuse_access(RedisEngine& engine, planner::PhysicalPlan plan, std::string known_version, SessionState& session) {
  const sql::CatalogPtr newest = co_await engine.newest_catalog(session);
  if (newest->version != known_version) throw StaleCatalog{};
  check_access(plan, session);
}

}  // namespace redquel::executor
