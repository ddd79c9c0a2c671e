#pragma once

#include <boost/asio/awaitable.hpp>
#include <random>
#include <set>
#include <unordered_map>

#include "executor/redis/client.h"
#include "executor/transaction/lock_wait.h"
#include "executor/transaction/transaction.h"

namespace redquel::executor {

/// `UPDATE t SET n = n + c WHERE key` in a transaction takes no lock and waits for no other session: at the commit Redis adds c to the
/// current value. That ends when a statement reads the table again: before it, such rows of these tables are locked, and become changes
/// like any other. Throws the errors of wait_for_lock(), 22003 if a sum has left its type's range.
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
  /// Returns true if the next increment of the table shall lock its row. Sometimes it is false, to find out whether statements still read
  /// the table.
  bool locks_at_once(sql::Oid table);

 private:
  std::unordered_map<sql::Oid, int> locks_;  // how many of the next ones shall
};

}  // namespace redquel::executor
