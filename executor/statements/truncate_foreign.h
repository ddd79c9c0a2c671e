#pragma once

#include <memory>

#include "executor/engine/engine.h"
#include "executor/engine/redis_engine.h"

namespace redquel::executor {

/// TRUNCATE, which is `plain` where it names redquel's own tables. The rows of foreign tables are deleted, as DELETE would do it, with the
/// structures that redquel maintains; nothing else goes. All tables, or none; 0A000 where both kinds are named.
std::unique_ptr<Execution> make_truncate(RedisEngine& engine, PreparedPtr prepared, SessionState& session, std::unique_ptr<Execution> plain);

}  // namespace redquel::executor
