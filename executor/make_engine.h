#pragma once

#include <cstddef>
#include <memory>

#include "executor/engine/engine.h"
#include "executor/redis/client.h"

namespace redquel::executor {

/// `database`: the logical one. `home`: a way to that where the list of databases lies.
std::unique_ptr<Engine> make_engine(RedisAccess& access, int database, RedisClient& home, EngineLimits limits = {});

}  // namespace redquel::executor
