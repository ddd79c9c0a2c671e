#pragma once

#include <memory>
#include <vector>

#include "executor/engine/redis_engine.h"

namespace redquel::executor {

/// The statements that `is_definition` knows. `parameters`: of the query of CREATE TABLE AS.
std::unique_ptr<Execution> make_definition_execution(RedisEngine&, PreparedPtr, SessionState&, std::vector<sql::Datum> parameters);

}  // namespace redquel::executor
