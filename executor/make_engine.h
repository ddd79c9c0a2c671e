#pragma once

#include <cstddef>
#include <memory>

#include "executor/engine/redis_engine.h"
#include "executor/memory/table_memory.h"
#include "executor/redis/client.h"

namespace redquel::executor {

/// `database`: the logical one. `home`: a way to that where the list of databases lies.
/// `memory`: the copies of the process; null: there are none.
std::unique_ptr<RedisEngine> make_engine(RedisAccess& access, int database, RedisClient& home, EngineLimits limits = {},
                                         std::shared_ptr<TableMemory> memory = nullptr);

}  // namespace redquel::executor
