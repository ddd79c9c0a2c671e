#pragma once

#include "executor/engine/redis_engine.h"

namespace redquel::executor {

/// IMPORT FOREIGN SCHEMA "pattern" FROM SERVER redis INTO schema: discovers tables and makes them by the statements that
/// `redquel discover` prints, all or none. Notices say what it was unsure of.
std::unique_ptr<Execution> make_import(RedisEngine& engine, PreparedPtr prepared, SessionState& session);

}  // namespace redquel::executor
