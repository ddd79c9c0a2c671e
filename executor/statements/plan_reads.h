#pragma once

#include <string>
#include <vector>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "executor/storage/read_checks.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// Notes the tables that a plan reads, and which of them not only by key.
void note_tables(const planner::PhysicalNode& plan, ReadChecks& reads);
/// Returns the command that reads the change counters of a plan's tables; none where it reads no table.
CommandBatch counter_commands(const planner::PhysicalPlan& plan);
/// Returns the counters in its reply.
std::vector<std::string> counters_in(const Replies& replies);
/// Returns true if the plan begins with reads that another connection makes than the one for short commands.
bool walks_on_bulk_connection(const planner::PhysicalNode& plan);

}  // namespace redquel::executor
