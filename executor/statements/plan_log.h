#pragma once

#include <chrono>
#include <string>

#include "executor/runtime/session_state.h"
#include "planner/explain/explain.h"

namespace redquel::executor {

/// The plan of one run for the log, if the run takes long (auto_explain).
class PlanLog {
 public:
  /// `options`: the session's.
  explicit PlanLog(const SessionState::AutoExplain& options) : options_(options) {}

  /// The run's counts; null: its plan is logged without counts.
  planner::RunStatistics* statistics() { return options_.analyze ? &statistics_ : nullptr; }
  void add(std::chrono::nanoseconds taken) { taken_ += taken; }
  /// The run is complete: logs the plan if it took as long as the options say.
  void write(const planner::PhysicalPlan& plan, const std::string& query) const;

 private:
  const SessionState::AutoExplain& options_;
  planner::RunStatistics statistics_;
  std::chrono::nanoseconds taken_{};
};

}  // namespace redquel::executor
