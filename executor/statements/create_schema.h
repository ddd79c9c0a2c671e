#pragma once

#include <memory>

#include "executor/engine/redis_engine.h"

namespace redquel::executor {

/// CREATE SCHEMA with elements: `plain` makes the schema itself, then each element is made in it, all in one transaction.
/// 42P15 for an element of another schema.
std::unique_ptr<Execution> make_create_schema(RedisEngine&, PreparedPtr, SessionState&, std::unique_ptr<Execution> plain);

}  // namespace redquel::executor
