#include "executor/statements/plan_reads.h"

#include "sql/catalog/spread_table.h"

namespace redquel::executor {

void note_tables(const planner::PhysicalNode& plan, ReadChecks& reads) {
  const planner::Reads how = planner::traits_of(plan).reads;
  if (how != planner::Reads::kNothing) {
    for (const auto& stored : sql::stored_tables(*planner::table_of(plan))) reads.add_table(*stored, how != planner::Reads::kByKey);
  }
  for (const planner::PhysicalPlan& input : planner::inputs_of(plan)) note_tables(*input, reads);
}

}  // namespace redquel::executor
