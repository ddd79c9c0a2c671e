#pragma once

#include "executor/query_execution.h"

namespace redquel::executor {

/// CREATE TABLE AS and SELECT INTO: they make a table and fill it. Is it one of them?
bool is_create_table_as(const parser::ast::Statement& statement);
/// Returns true if a part of WITH changes data.
bool writes_in_with(const parser::ast::Select& query);
/// The table is made, then filled by one write unit; when that fails, it is dropped again.
/// `parameters`: those of the query, in the types of `prepared->parameter_types`.
std::unique_ptr<Execution> make_create_table_as(RedisEngine& engine, PreparedPtr prepared, SessionState& session,
                                                std::vector<sql::Datum> parameters);

}  // namespace redquel::executor
