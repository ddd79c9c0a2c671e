#pragma once

#include "executor/query_execution.h"

namespace redquel::executor {

/// REFRESH MATERIALIZED VIEW: is it that?
bool is_refresh(const parser::ast::Statement& statement);
/// The rows are made anew, in one transaction: for its length the view is a table that is truncated and filled.
std::unique_ptr<Execution> make_refresh(RedisEngine& engine, PreparedPtr prepared, SessionState& session);

/// Runs a statement of the executor's own to its end; its command tag.
asio::awaitable<std::string> run_text(RedisEngine& engine, SessionState& session, std::string text);

}  // namespace redquel::executor
