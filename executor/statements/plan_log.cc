#include "executor/statements/plan_log.h"

namespace redquel::executor {

void PlanLog::write(const planner::PhysicalPlan& plan, const std::string& query) const {
  const double milliseconds = std::chrono::duration<double, std::milli>(taken_).count();
  if (milliseconds < static_cast<double>(options_.min_duration) || !options_.log) return;
  planner::ExplainOptions form{.analyze = options_.analyze, .verbose = options_.verbose};
  if (options_.json) form.format = planner::ExplainOptions::Format::kJson;
  std::string text;
  for (const std::string& line : planner::explain(plan, form, options_.analyze ? &statistics_ : nullptr, 0, milliseconds)) {
    text += (text.empty() ? "" : "\n") + line;
  }
  options_.log(milliseconds, query, text);
}

}  // namespace redquel::executor
