#pragma once

#include "executor/query_execution.h"

namespace redquel::executor {

/// REFRESH MATERIALIZED VIEW: is it that?
bool is_refresh(const parser::ast::Statement& statement);
/// The rows are made anew, in one transaction: for its length the view is a table that is truncated and filled.
std::unique_ptr<Execution> make_refresh(RedisEngine& engine, PreparedPtr prepared, SessionState& session);

}  // namespace redquel::executor
