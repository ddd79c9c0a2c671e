#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::executor {

/// One line `slaveN` of INFO replication.
struct ReplicaLine {
  std::string place;  // "address:port" that it has announced
  bool is_online = false;
  std::uint64_t offset = 0;  // that it has acknowledged
  std::uint64_t lag = 0;     // seconds since its last acknowledgement

  /// Returns the reason why no commit waits for it: a tool that reads the stream is no replica. Empty: it may be one.
  std::string_view objection() const;
  /// Returns true if it follows, and has acknowledged nothing yet: that is the only objection.
  bool is_new() const;
};

/// The answer of a master to INFO replication.
struct ReplicationInfo {
  std::uint64_t offset = 0;  // of the master
  std::vector<ReplicaLine> replicas;
  std::optional<std::uint64_t> synchronizations;  // that have begun so far, of all replicas (INFO stats)
};
/// Reads the text of INFO.
ReplicationInfo read_replication(std::string_view info);

/// The replicas of one master that commits wait for (redis.synchronous_replicas = "auto"): those that follow it. A replica that is no longer
/// connected counts until it is dropped: it may have become the master. Sans I/O.
class ReplicaSet {
 public:
  using Clock = std::chrono::steady_clock;
  /// A replica that acknowledges the same offset for this time, while the master has gone on, does not follow.
  static constexpr std::chrono::seconds kPatience{10};
  /// A replica that is not connected for this time may be dropped. Sentinels need less to report a failover.
  static constexpr std::chrono::seconds kAbsence{10};
  /// A replica can be missed if it comes and goes between two looks. So the synchronizations are counted, too, which costs Redis 8 µs: no replica
  /// comes, is synchronized and promoted within this time.
  static constexpr std::chrono::milliseconds kCountPause{20};
  /// The same, as long as a sentinel does not say that it replaces no master.
  static constexpr std::chrono::seconds kUncertainAbsence{60};

  /// Returns true if the next question to a master that may be replaced shall include its number of synchronizations.
  bool wants_count(Clock::time_point now) const { return now - counted_ >= kCountPause; }
  /// Takes the master's answer to INFO replication. Returns true if other replicas count than before. `may_be_promoted`: sentinels may make a
  /// replica the master that has not acknowledged anything yet, so it counts from the moment in which it follows.
  bool take(const ReplicationInfo& info, Clock::time_point now, bool may_be_promoted);
  /// Returns the number of replicas that count.
  std::size_t size() const;
  /// Returns the number of confirmations that WAIT shall wait for.
  std::size_t needed() const { return size() + others_that_confirm_; }
  /// Returns true if each replica that counts has confirmed. `confirmed`: the reply to WAIT, which stood directly before the INFO that was taken
  /// last.
  bool have_confirmed(std::size_t confirmed);
  /// Returns true if a replica is not connected for long enough, or none knows which one came and went: the sentinels shall be asked.
  bool has_overdue(Clock::time_point now) const;
  /// Drops the replicas that are not connected for `absence`, because the sentinels have said that none of them is the master. One that came and
  /// went is dropped at once if all sentinels have said so (`absence` is kAbsence then).
  void drop_overdue(Clock::time_point now, std::chrono::seconds absence = kAbsence);

  /// Returns a text for the log: which replicas count, and which clients do not.
  std::string description() const;

 private:
  struct Replica {
    std::uint64_t offset = 0;
    Clock::time_point progressed, seen;  // it last acknowledged more; it last was connected
    bool counts = true, is_connected = true;
  };

  bool is_overdue(const Replica& replica, Clock::time_point now, std::chrono::seconds absence) const {
    return replica.counts && !replica.is_connected && now - replica.seen >= absence;
  }

  void note_strangers(const ReplicationInfo& info, Clock::time_point now);

  std::map<std::string, Replica> replicas_;               // by place
  std::set<std::string> silent_;  // places that follow, and were dropped because they acknowledge nothing
  std::map<std::string, std::string, std::less<>> others_;  // place → objection
  std::vector<std::uint64_t> offsets_;  // that were acknowledged, the largest first
  std::size_t others_that_confirm_ = 0;  // and do not count
  /// A replica was there for a moment, and is gone: it may have become the master. It counts from the time in which that was noticed on, until it
  /// is dropped.
  std::optional<Clock::time_point> stranger_;
  std::optional<std::uint64_t> synchronizations_;  // of the last count
  std::set<std::string> places_of_count_, newcomers_;  // the places of the last count; those that were seen since
  Clock::time_point counted_{};
};

}  // namespace redquel::executor
