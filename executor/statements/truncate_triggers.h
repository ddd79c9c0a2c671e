#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <vector>

#include "executor/engine/redis_engine.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// Returns true if TRUNCATE may fire triggers: those of its tables, and of tables that refer to them. Then it is a transaction.
bool may_fire_triggers(const parser::ast::Truncate& statement, const sql::CatalogSnapshot& catalog, const SessionState& session);
/// Fires the tables' triggers for TRUNCATE, table by table. The session must be in a transaction.
boost::asio::awaitable<void> fire_truncate_triggers(RedisEngine& engine, SessionState& session, std::vector<std::shared_ptr<const sql::TableDef>> tables,
                                                    sql::TriggerDef::Timing timing);

}  // namespace redquel::executor
