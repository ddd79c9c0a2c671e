#pragma once

#include "executor/storage/read_checks.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// Notes the tables that a plan reads, and which of them not only by key.
void note_tables(const planner::PhysicalNode& plan, ReadChecks& reads);

}  // namespace redquel::executor
