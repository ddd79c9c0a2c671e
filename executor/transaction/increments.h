#pragma once

#include <boost/asio/awaitable.hpp>
#include <random>
#include <set>
#include <unordered_map>

#include "executor/redis/client.h"
#include "executor/transaction/lock_wait.h"
#include "executor/transaction/transaction.h"

namespace redquel::executor {

/// `UPDATE t SET n = n + c WHERE key` in a transaction takes no lock, so that it waits for nobody: at the commit Redis adds c to what
/// is there then. That is over as soon as a statement looks at the table again: before it, such rows of these tables are locked, and
/// become changes like any other. Throws what wait_for_lock throws, 22003 where a sum has left its type's range.
asio::awaitable<void> settle_increments(RedisClient& redis, Transaction& transaction, std::set<sql::Oid> tables, LockWaitLimits limits,
                                        std::minstd_rand& random);

/// Tables whose increments the transactions that make them look at again, as `UPDATE … SET balance = balance + c` and then `SELECT
/// balance` do: there a row is best locked at once, which spares the round trip that would lock it later. What the statements of this
/// thread have seen; no more than a guess.
class IncrementHabits {
 public:
  static IncrementHabits& of_this_thread();
  /// A query has looked at increments of the table. (Another UPDATE of it is none: two transfers between the same rows would meet in
  /// a deadlock.)
  void note_look(sql::Oid table);
  /// Shall the next increment of the table lock its row? Now and then it shall not, to see whether somebody still looks.
  bool locks_at_once(sql::Oid table);

 private:
  std::unordered_map<sql::Oid, int> locks_;  // how many of the next ones shall
};

}  // namespace redquel::executor
