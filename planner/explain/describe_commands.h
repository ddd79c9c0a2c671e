#pragma once

#include <string>
#include <vector>

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// The Redis commands of one node, and their round trips, as far as the plan determines them.
struct CommandText {
  std::vector<std::string> commands;
  std::string round_trips;  // "1", "1 per 1000 rows"; empty: none
  /// Names of commands that are sent only if sizes or rows ask for it: those that find the sizes out, and those that then stand in for others.
  std::vector<std::string> as_needed = {};
};
CommandText describe_commands(const PhysicalNode&);

}  // namespace redquel::planner
