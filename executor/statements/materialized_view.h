#pragma once

#include "executor/engine/redis_engine.h"

namespace redquel::executor {

/// REFRESH MATERIALIZED VIEW. The rows are made anew, in one transaction: for its length the view is a table that is truncated and filled.
std::unique_ptr<Execution> make_refresh(RedisEngine& engine, PreparedPtr prepared, SessionState& session);

}  // namespace redquel::executor
