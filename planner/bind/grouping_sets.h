#pragma once

#include <vector>

#include "planner/bind/ordering.h"

namespace redquel::planner {

/// GROUP BY: its keys, and the sets of them by which the rows are grouped (positions in `keys`, ascending). Without GROUPING SETS and
/// the like one set of all keys.
struct GroupingClause {
  std::vector<sql::ExpressionPtr> keys;
  std::vector<std::size_t> targets;  // of the keys: which targets they are
  std::vector<std::vector<std::size_t>> sets;
  bool has_sets() const { return sets.size() != 1 || sets[0].size() != keys.size(); }
};

/// 54001 "too many grouping sets present (maximum 4096)", 54011 "CUBE is limited to 12 elements".
GroupingClause bind_group_by(BindState&, TargetList&, const parser::ast::Select&);

}  // namespace redquel::planner
