#pragma once

#include "executor/engine/engine.h"
#include "executor/redis/shared_connection.h"
#include "server/engine_source.h"

namespace redquel::server {

/// Engines over one Redis. The database `postgres` is the logical database of the URL; others are found in its hash
/// redquel:databases (name → number).
EngineSourceFactory redis_engines(executor::ConnectionOptions redis, executor::EngineLimits limits);

}  // namespace redquel::server
