#include "executor/statements/plan_reads.h"

#include <algorithm>

#include "sql/catalog/spread_table.h"

namespace redquel::executor {

void note_tables(const planner::PhysicalNode& plan, ReadChecks& reads) {
  const planner::Reads how = planner::traits_of(plan).reads;
  if (how != planner::Reads::kNothing) {
    for (const auto& stored : sql::stored_tables(*planner::table_of(plan))) reads.add_table(*stored, how != planner::Reads::kByKey);
  }
  for (const planner::PhysicalPlan& input : planner::inputs_of(plan)) note_tables(*input, reads);
}

namespace {

/// Returns true if the node asks Redis for its rows, or knows without that there are none.
bool asks_redis(const planner::PhysicalNode& node) {
  using planner::Reads;
  const Reads how = planner::traits_of(planner::below_row_wise(node)).reads;
  return how == Reads::kByKey || how == Reads::kByValue || how == Reads::kRows || how == Reads::kEntries;
}

}  // namespace

bool walks_on_bulk_connection(const planner::PhysicalNode& plan) {
  // The inner table is walked once the outer rows are there: what found them was asked behind the counters, by the same connection.
  const auto* adaptive = std::get_if<planner::AdaptiveJoin>(&plan.node);
  if (adaptive != nullptr && asks_redis(*adaptive->outer)) return walks_on_bulk_connection(*adaptive->outer);
  const planner::NodeTraits& traits = planner::traits_of(plan);
  if (traits.walks == planner::Walks::kTable) return true;
  if (traits.reads == planner::Reads::kCopy) return true;  // the fence has a connection of its own
  const std::vector<planner::PhysicalPlan> inputs = planner::inputs_of(plan);
  return std::ranges::any_of(inputs, [](const planner::PhysicalPlan& input) { return walks_on_bulk_connection(*input); });
}

}  // namespace redquel::executor
