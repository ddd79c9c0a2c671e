#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/redis/client.h"
#include "executor/runtime/session_state.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// SET CONSTRAINTS, for the rest of the transaction; outside of one only the names are looked at. 42704, 42809; 23503 of what has waited.
asio::awaitable<void> set_constraints(RedisClient& redis, const parser::ast::SetConstraints& statement, SessionState& session,
                                      sql::CatalogPtr definitions);

}  // namespace redquel::executor
