#pragma once

#include "executor/redis_engine.h"

namespace redquel::executor {

class CopyInput;

/// SELECT, VALUES, INSERT, UPDATE, DELETE, and the rows of COPY. `copy`: the data of COPY FROM.
std::unique_ptr<Execution> make_query_execution(RedisEngine&, PreparedPtr, std::vector<sql::Datum> parameters, SessionState&,
                                                CopyInput* copy = nullptr);
/// EXPLAIN [ANALYZE] of them.
std::unique_ptr<Execution> make_explain_execution(RedisEngine&, PreparedPtr, std::vector<sql::Datum> parameters, SessionState&);
/// CREATE, ALTER, DROP …, VACUUM: statements that `is_definition` knows. `parameters`: of the query of CREATE TABLE AS.
std::unique_ptr<Execution> make_definition_execution(RedisEngine&, PreparedPtr, SessionState&, std::vector<sql::Datum> parameters = {});

bool is_definition(const parser::ast::Statement& statement);

}  // namespace redquel::executor
