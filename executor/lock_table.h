#pragma once

#include <memory>

#include "executor/redis_engine.h"

namespace redquel::executor {

/// The table is the transaction's, one of the session, in a mode as ast::LockTable has it, until it ends. Waits; 55P03 at once with
/// `no_wait`, or after lock_timeout, 40P01.
asio::awaitable<void> lock_table(RedisEngine&, const SessionState&, Transaction&, const sql::TableDef& table, std::int32_t mode, bool no_wait = false);

/// LOCK TABLE: in a transaction, until its end. What it keeps out is in docs/transactions.md.
std::unique_ptr<Execution> make_lock_table(RedisEngine&, PreparedPtr, SessionState&);

}  // namespace redquel::executor
