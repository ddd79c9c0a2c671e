#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "executor/engine/redis_engine.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// Called where a role has no access to a plan's tables as this process knows them. Throws 42501, or StaleCatalog if another process has changed
/// definitions or roles since.
asio::awaitable<void> refuse_access(RedisEngine& engine, planner::PhysicalPlan plan, std::string known_version, SessionState& session);

}  // namespace redquel::executor
