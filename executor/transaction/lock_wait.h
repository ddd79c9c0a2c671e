#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "executor/redis/client.h"
#include "executor/storage/locks.h"
#include "executor/transaction/lock_sweep.h"
#include "sql/error.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// This process's (one engine's) right to hold locks: a key in Redis that its LeaseKeeper renews while there are transactions with locks. A
/// process that stands still for longer than the lease loses its locks; its transactions notice when they commit.
class LockLease {
 public:
  /// `database`: the logical one. `milliseconds`: how long the process may stand still. Three times in this time the lease looks in the locks of
  /// `tables` for some whose transaction has ended.
  LockLease(RedisClient& redis, int database, std::size_t milliseconds, LockSweep::Tables tables = {});
  ~LockLease();

  /// Gives a token to a transaction or session that is about to lock. The lease is renewed until all tokens have been given back.
  /// `pid`: of its session, for pg_locks and the details of deadlocks.
  asio::awaitable<std::string> take_token(std::int32_t pid = 0);
  void give_back(const std::string& token);
  /// Notes that a call with this token has failed: where its reply got lost, locks may be there, or come yet, that are in no LockSet.
  void suspect(const std::string& token);
  bool suspects(const std::string& token) const;
  /// Removes locks of tokens that have been given back. A failure leaves them to the renewals.
  asio::awaitable<void> sweep();
  /// Returns the lease's name in Redis: `redquel:process:<process>`. A token begins with it.
  const std::string& process() const;
  /// Returns true if the key existed when Redis was last asked.
  bool is_taken() const;
  /// Takes another name, if the token belongs to the current one: locks that could not be released lapse with the old name.
  void renounce(std::string_view token);
  /// The lease is there. After a standstill that was too long it is another one, and tokens of before hold nothing any more.
  asio::awaitable<void> hold();
  /// Returns true if the token belongs to the current lease. Does not ask Redis.
  bool covers(std::string_view token) const;

 private:
  struct State;
  static asio::awaitable<void> sweep_on(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

struct LockWaitLimits {
  std::int64_t lock_timeout = 0, deadlock_timeout = 1000;  // milliseconds; 0: none
  std::int32_t process_id = 0;  // of the session that waits, for its log and pg_stat_activity
};

/// 40001: the process stood still for longer than its lease, and others may have had the lock since.
sql::SqlError lapsed_lock();

/// Waits until the lock is gone. `token`: of the waiting transaction, empty for a statement outside of a block. Throws SqlError 55P03
/// after lock_timeout, 40P01 when the transactions wait in a circle: then this one is the victim.
asio::awaitable<void> wait_for_lock(RedisClient& redis, LockConflict conflict, std::string token, LockWaitLimits limits,
                                    std::minstd_rand& random);

/// Gives back all that is still held. Locks of others are left alone. False: not all of them were held any more.
asio::awaitable<bool> release_locks(RedisClient& redis, const LockSet& locks);

}  // namespace redquel::executor
