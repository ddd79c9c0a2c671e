#pragma once

#include <memory>

#include "executor/engine/engine.h"
#include "executor/memory/table_memory.h"
#include "executor/redis/own_keyspace.h"
#include "executor/redis/shared_connection.h"
#include "server/engine_source.h"

namespace redquel::server {

/// Engines over one Redis. The database `postgres` is the logical database of the URL; others are found in its hash
/// redquel:databases (name → number). `own`: of a redquel that only looks at Redis (`executor::looking_options`); null: the keys of redquel's
/// own are in Redis.
EngineSourceFactory redis_engines(executor::ConnectionOptions redis, executor::EngineLimits limits,
                                  std::shared_ptr<executor::OwnKeyspace> own = nullptr, executor::MemoryOptions memory = {});

}  // namespace redquel::server
