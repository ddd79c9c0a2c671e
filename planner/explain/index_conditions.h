#pragma once

#include <string>
#include <vector>

#include "planner/explain/shown_columns.h"
#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// The conditions of a read of a table as texts, divided by where they are answered.
struct DividedConditions {
  std::vector<std::string> index;   // by the access path; rows are checked again where entries promise a superset
  std::vector<std::string> filter;  // on the fetched rows
};

/// Divides the conditions of a node that reads one table. Both are empty for other nodes. `columns` names those columns whose conditions the
/// plan leaves out because the path answers them exactly.
DividedConditions divide_conditions(const PhysicalNode& node, const ShownColumns& columns);

/// Returns the reasons why indexes over columns of the node's filter or sort keys do not serve it, such as "hired: nullable column, and the
/// index has no NULLs"; one for each column.
std::vector<std::string> reasons_against_indexes(const PhysicalNode& node);

}  // namespace redquel::planner
