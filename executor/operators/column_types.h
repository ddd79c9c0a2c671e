#pragma once

#include <vector>

#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// The types of the node's columns.
inline std::vector<sql::Type> column_types(const planner::PhysicalNode& node) {
  std::vector<sql::Type> types;
  types.reserve(node.columns.size());
  for (const planner::PhysicalColumn& column : node.columns) types.push_back(column.type);
  return types;
}

}  // namespace redquel::executor
