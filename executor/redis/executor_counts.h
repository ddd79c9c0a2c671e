#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "sql/counts.h"

namespace redquel::executor {

/// The counts of the engines and connections of one thread, for /metrics. The thread writes, any thread reads. Durations: nanoseconds.
class ExecutorCounts {
 public:
  sql::Count plan_cache_hits, plan_cache_misses;
  sql::Count direct_runs;  // of statements that were one turn of commands, without operators
  sql::DurationHistogram planning, lock_waits, replica_waits;
  /// From the write of commands to the last of their replies: of statements, and of the connection for bulk reads and loads.
  sql::DurationHistogram round_trips, bulk_round_trips;
  sql::Count temporary_bytes, swept_rows, undone_units;
  sql::Count replica_failures;  // commits that replicas have not confirmed in time
  sql::Count master_changes;    // that sentinels have reported

  /// Notes a round trip that ran scripts of one kind; `name` lives as long as the process.
  void note_script(std::string_view name, std::uint64_t duration);
  /// Notes an error reply by its first word.
  void note_error(std::string_view reply);

  // From any thread.
  template <class Visit>
  void visit_scripts(const Visit& visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, durations] : scripts_) visit(name, *durations);
  }
  std::map<std::string, std::uint64_t> errors() const {
    const std::lock_guard lock(mutex_);
    return errors_;
  }

 private:
  mutable std::mutex mutex_;  // held by the owner while it changes a map, by others while they read
  std::map<std::string_view, std::unique_ptr<sql::DurationHistogram>> scripts_;
  std::map<std::string, std::uint64_t> errors_;
};

/// Returns the counts of this thread. Without set_counts_of_thread() they are discarded with the thread.
ExecutorCounts& counts_of_thread();
/// Names the counts of this thread, which outlive what it runs.
void set_counts_of_thread(ExecutorCounts& counts);

}  // namespace redquel::executor
