#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "executor/storage/write_conflict.h"

namespace redquel::executor {

// When a statement runs again, and how often.

/// Runs of a statement at the stricter isolation levels whose reads did not hold.
inline constexpr int kMaxAttempts = 10;
/// Runs that lost a race against other writers. PostgreSQL waits for them, however many there are, so this bound is far away: some
/// seconds of nothing but lost races.
inline constexpr int kMaxConflicts = 1000;
/// Runs that began under definitions that were not the newest. Other sessions may define tables all the time, so this bound is far away, too.
inline constexpr int kMaxStaleRuns = 1000;
/// So many of them follow each other at once. Later ones pause: nodes of a cluster have different versions while the home bucket moves.
inline constexpr int kQuickStaleRuns = 5;
/// Runs that look for a quiet moment in which all reads of a statement belong together: so many, and more while it is so many microseconds old.
inline constexpr int kMaxSnapshotAttempts = 4;
inline constexpr std::int64_t kSnapshotPatience = 2'000'000;
/// So long, in microseconds, a statement reads again because of commits over several buckets.
inline constexpr std::int64_t kTornPatience = 10'000'000;

/// The demands of a plan and of its transaction on a run: computed at the run's start, the same until its end.
struct RunPolicy {
  bool writes = false;
  bool is_compound = false;  // several writes in a transaction, if need be of the statement's own
  bool is_strict = false;    // REPEATABLE READ, SERIALIZABLE
  bool compares_counters = false;  // of the tables, before and behind its reads
  bool holds_rows = false;         // until they are known to belong together
};

/// How a run ended.
enum class Outcome { kGood, kNoDatabases, kLocked, kConflict, kStale };

/// The rule for an outcome that is not good: the statement runs again, or fails with 40001 "could not serialize access due to concurrent …".
struct RetryRule {
  Outcome outcome;
  bool at_strict_levels;     // runs again at REPEATABLE READ and SERIALIZABLE, too
  int most;                  // times; 0: as often as it happens
  std::string_view failure;  // beyond that
};
inline constexpr RetryRule kRetryRules[] = {
    {Outcome::kNoDatabases, true, 0, ""},                            // the names of the databases are read first
    {Outcome::kLocked, true, 0, ""},                                 // after a wait for the lock, which has limits of its own
    {Outcome::kConflict, false, kMaxConflicts, "update"},            // after a pause
    {Outcome::kStale, true, kMaxStaleRuns, "change of definitions"}, // with a new plan
};

/// How often the runs of a statement ended with each outcome whose number has a bound.
class RetryCounts {
 public:
  /// Counts a run. Throws 40001 if the rules end the statement.
  void note(Outcome outcome, bool is_strict) {
    const RetryRule& rule = *std::ranges::find(kRetryRules, outcome, &RetryRule::outcome);
    if (is_strict && !rule.at_strict_levels) throw serialization_failure(rule.failure);
    if (rule.most != 0 && ++counts_[static_cast<std::size_t>(outcome)] >= rule.most) throw serialization_failure(rule.failure);
  }
  int of(Outcome outcome) const { return counts_[static_cast<std::size_t>(outcome)]; }
  void forget(Outcome outcome) { counts_[static_cast<std::size_t>(outcome)] = 0; }

 private:
  std::array<int, std::size(kRetryRules) + 1> counts_{};
};

}  // namespace redquel::executor
