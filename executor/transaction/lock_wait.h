#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <random>
#include <string>

#include "executor/redis/client.h"
#include "executor/transaction/locks.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// This process's (one engine's) right to hold locks: a key in Redis that is renewed while there are transactions with locks. A process
/// that stands still for longer than the lease loses its locks; its transactions notice when they commit.
class LockLease {
 public:
  explicit LockLease(RedisClient& redis);
  ~LockLease();

  /// A token for a transaction that is about to lock. The lease holds from now on until as many `give_back` have come.
  asio::awaitable<std::string> take_token();
  void give_back();
  /// By what name the lease is known in Redis: `redquel:process:<process>`. A token begins with it.
  const std::string& process() const;
  /// Locks could not be released: this process goes on under another name, and what it had under the old one lapses.
  void renounce();
  /// The lease is there; after a standstill it may have to be taken again.
  asio::awaitable<void> hold();

 private:
  struct State;
  static asio::awaitable<void> keep(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

struct LockWaitLimits {
  std::int64_t lock_timeout = 0, deadlock_timeout = 1000;  // milliseconds; 0: none
};

/// Waits until the lock is gone. `token`: of the waiting transaction, empty for a statement that stands for itself. Throws SqlError 55P03
/// after lock_timeout, 40P01 when the transactions wait in a circle: then this one is the victim.
asio::awaitable<void> wait_for_lock(RedisClient& redis, LockConflict conflict, std::string token, LockWaitLimits limits,
                                    std::minstd_rand& random);

/// Gives back all that is still held. Locks of others are left alone.
asio::awaitable<void> release_locks(RedisClient& redis, const LockSet& locks);

}  // namespace redquel::executor
