#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "executor/redis/script.h"
#include "executor/redis/shared_connection.h"
#include "sql/counts.h"

namespace redquel::executor {

/// A lease in Redis, in one bucket, and how to renew it.
struct LeaseTerms {
  int database = 0;  // the logical one
  std::chrono::milliseconds length{};
  std::string key;
  CommandBatch renewal;  // may call `scripts`
  std::vector<const Script*> scripts;
  /// Returns true if the renewal found the lease. Called by the keeper's thread.
  std::function<bool(const Replies&)> is_renewed;
};

/// A lease that is renewed until this object is destroyed. Any thread may own it.
class KeptLease {
 public:
  using Clock = std::chrono::steady_clock;
  struct State;

  explicit KeptLease(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~KeptLease();
  KeptLease(const KeptLease&) = delete;
  KeptLease& operator=(const KeptLease&) = delete;

  /// Returns the moment in which the last successful renewal was sent; the epoch: there was none.
  Clock::time_point renewed() const;
  /// Returns true if a renewal found that the lease has ended.
  bool is_lost() const;
  /// Says whether the lease is needed. It is not renewed while it is not.
  void set_needed(bool needed);

 private:
  std::shared_ptr<State> state_;
};

/// The thread that renews the leases of this process. Nothing but renewals goes through its connections to Redis, and it computes nothing
/// else: neither statements that compute, nor what they send, delay a renewal. While Redis does not answer, it asks again and again.
///
/// The keeper notes in Redis which process has which lease (sql::kHoldersKey). So the leases of a process that was killed on this machine end
/// when another process meets its locks, and not later.
class LeaseKeeper {
 public:
  explicit LeaseKeeper(ConnectionOptions redis);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  /// Renews a lease that was just taken, six times in its length.
  std::unique_ptr<KeptLease> keep(LeaseTerms terms);
  /// Notes a logical database in which other processes may have leases.
  void watch(int database);
  /// Soon ends the leases of processes of this machine that have ended. Does nothing within half a second after the last call.
  void end_leases_of_the_dead();
  /// Connections that are made from now on log in so.
  void change_login(const RedisLogin& login);

 private:
  friend struct KeptLease::State;
  class Core;
  std::shared_ptr<Core> core_;
};

/// Returns the keeper for statements of this thread. Null: there is none, and leases are not renewed.
LeaseKeeper*& lease_keeper();
/// Takes note that a lock of another process is in the way: calls LeaseKeeper::end_leases_of_the_dead, if this thread has a keeper.
void end_leases_of_the_dead();

/// Returns how late renewals were: the time from the moment in which one was due to its answer.
const sql::DurationHistogram& lease_renewal_delays();

}  // namespace redquel::executor
