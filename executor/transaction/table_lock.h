#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <random>

#include "executor/redis/client.h"
#include "executor/transaction/lock_wait.h"
#include "executor/transaction/transaction.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// The table is the transaction's, which has a token, in a mode as ast::LockTable has it, until it ends. Waits; 55P03 at once with
/// `no_wait`, or after lock_timeout, 40P01.
asio::awaitable<void> take_table_lock(RedisClient& redis, Transaction& transaction, const sql::TableDef& table, std::int32_t mode, bool no_wait,
                                      LockWaitLimits limits, std::minstd_rand& random);

}  // namespace redquel::executor
