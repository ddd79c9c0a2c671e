#pragma once

#include <boost/asio/awaitable.hpp>
#include <random>
#include <set>

#include "executor/redis/client.h"
#include "executor/transaction/lock_wait.h"
#include "executor/transaction/transaction.h"

namespace redquel::executor {

/// `UPDATE t SET n = n + c WHERE key` in a transaction takes no lock, so that it waits for nobody: at the commit Redis adds c to what
/// is there then. That is over as soon as a statement looks at the table again: before it, such rows of these tables are locked, and
/// become changes like any other. Throws what wait_for_lock throws, 22003 where a sum has left its type's range.
asio::awaitable<void> settle_increments(RedisClient& redis, Transaction& transaction, std::set<sql::Oid> tables, LockWaitLimits limits,
                                        std::minstd_rand& random);

}  // namespace redquel::executor
