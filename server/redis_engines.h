#pragma once

#include <functional>
#include <memory>
#include <string>

#include "executor/engine.h"
#include "executor/redis/redis_pool.h"
#include "executor/redis/shared_connection.h"
#include "server/engine_source.h"

namespace redquel::server {

/// Makes the engine of one database: `database` is its number in Redis.
using EngineMaker =
    std::function<std::unique_ptr<executor::Engine>(executor::RedisPool& redis, int database, const std::string& name)>;

/// Engines over one Redis. The database `postgres` is the logical database of the URL; others are found in its hash
/// redquel:databases (name → number).
EngineSourceFactory redis_engines(executor::ConnectionOptions redis, EngineMaker make);

}  // namespace redquel::server
