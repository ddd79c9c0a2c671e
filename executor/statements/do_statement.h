#pragma once

#include <memory>

#include "executor/engine/redis_engine.h"

namespace redquel::executor {

/// DO [LANGUAGE plpgsql].
std::unique_ptr<Execution> make_do_statement(RedisEngine& engine, PreparedPtr prepared, SessionState& session);

/// CALL. Outside of a transaction block the procedure may COMMIT and ROLLBACK.
std::unique_ptr<Execution> make_call(RedisEngine& engine, PreparedPtr prepared, std::vector<sql::Datum> parameters, SessionState& session);

}  // namespace redquel::executor
