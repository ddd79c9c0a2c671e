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

bool walks_on_bulk_connection(const planner::PhysicalNode& plan) {
  const planner::NodeTraits& traits = planner::traits_of(plan);
  if (traits.walks == planner::Walks::kTable) return true;
  if (traits.reads == planner::Reads::kCopy) return true;  // the fence has a connection of its own
  const std::vector<planner::PhysicalPlan> inputs = planner::inputs_of(plan);
  return std::ranges::any_of(inputs, [](const planner::PhysicalPlan& input) { return walks_on_bulk_connection(*input); });
}

}  // namespace redquel::executor
