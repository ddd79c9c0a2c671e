#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "executor/redis/client.h"
#include "executor/transaction/lock_wait.h"

namespace redquel::executor {

/// The advisory locks of one session (PostgreSQL's manual, section 13.3.5). In Redis: sql::kAdvisoryKey.
/// The token is the session's for as long as it lives; like all locks they lapse with the lease of their process.
class AdvisoryLocks {
 public:
  struct Lock {
    std::int64_t key = 0;
    bool halves = false;  // given as two integers: another class of keys
    bool shared = false, transaction = false;
  };

  explicit AdvisoryLocks(std::string token) : token_(std::move(token)) {}
  const std::string& token() const { return token_; }

  /// Takes the lock, once more if the session has it. Without `limits` it does not wait: returns false if another owner's lock conflicts.
  /// Throws like wait_for_lock().
  asio::awaitable<bool> take(RedisClient& redis, Lock lock, std::optional<LockWaitLimits> limits, std::minstd_rand& random);
  /// Returns true if the session has taken locks, as far as it knows. `transaction`: transaction-level ones.
  bool any() const { return !held_.empty(); }
  bool any_of_transaction() const;
  /// Gives a session-level lock back as often as it is called; false: the session does not have it, or has lost it with a lease.
  asio::awaitable<bool> unlock(RedisClient& redis, Lock lock);
  /// Gives back what a call of `take` without a reply may have taken.
  asio::awaitable<void> settle(RedisClient& redis);
  /// All session-level locks.
  asio::awaitable<void> unlock_all(RedisClient& redis);
  /// All transaction-level locks: the transaction is over.
  asio::awaitable<void> end_transaction(RedisClient& redis);

 private:
  /// The number of times a lock is held.
  struct Counts {
    std::size_t session[2] = {}, transaction[2] = {};  // exclusive, shared
    int mode() const;                                  // in Redis; 0: not held
  };
  /// Returns false if the lock was to be weakened or given back, and is gone.
  asio::awaitable<bool> set_mode(RedisClient& redis, const std::string& field, int mode);
  asio::awaitable<void> drop(RedisClient& redis, bool session);

  std::string token_;
  std::map<std::string, Counts> held_;  // by field
  std::optional<std::string> uncertain_;  // of a call without a reply
};

}  // namespace redquel::executor
