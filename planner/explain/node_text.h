#pragma once

#include <string>
#include <utility>
#include <vector>

#include "planner/explain/shown_columns.h"
#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// The text of a node, for any format of EXPLAIN.
struct NodeText {
  std::string title;   // "Key Lookup", for JSON's "Node Type"
  std::string suffix;  // " on emp e", only in text form
  std::string schema = {}, relation = {}, alias = {};  // of the table; empty: none
  std::vector<std::pair<std::string, std::string>> properties = {};
};

/// Describes a node that ShownColumns::shown() has given.
NodeText describe(const PhysicalNode& node, ShownColumns& columns);

}  // namespace redquel::planner
