#pragma once

#include "executor/engine/redis_engine.h"

namespace redquel::executor {

/// CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW. The table is made, then filled by one write unit; when that fails, it is dropped again.
/// `parameters`: those of the query, in the types of `prepared->parameter_types`.
std::unique_ptr<Execution> make_create_table_as(RedisEngine& engine, PreparedPtr prepared, SessionState& session,
                                                std::vector<sql::Datum> parameters);

}  // namespace redquel::executor
