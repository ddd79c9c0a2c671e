#pragma once

#include "executor/engine/redis_engine.h"

namespace redquel::executor {

class CopyInput;

/// SELECT, VALUES, INSERT, UPDATE, DELETE, and the rows of COPY. `copy`: the data of COPY FROM.
std::unique_ptr<Execution> make_query_execution(RedisEngine&, PreparedPtr, std::vector<sql::Datum> parameters, SessionState&,
                                                CopyInput* copy = nullptr);
/// EXPLAIN [ANALYZE] of them.
std::unique_ptr<Execution> make_explain_execution(RedisEngine&, PreparedPtr, std::vector<sql::Datum> parameters, SessionState&);
}  // namespace redquel::executor
