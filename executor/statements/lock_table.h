#pragma once

#include <memory>

#include "executor/engine/redis_engine.h"

namespace redquel::executor {

/// LOCK TABLE: in a transaction, until its end. What it keeps out is in docs/transactions.md.
std::unique_ptr<Execution> make_lock_table(RedisEngine&, PreparedPtr, SessionState&);

}  // namespace redquel::executor
