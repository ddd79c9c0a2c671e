#pragma once

#include <optional>

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// The way of a LookupJoin whose outer rows are the members of one set, which are the keys of the rows that it looks up: one
/// `SORT_RO set BY nosort GET # GET product:*->name …` reads both.
struct MemberLookup {
  const IndexKeys* keys;   // the outer input
  bool answers_condition;  // the join condition compares members with keys, and nothing else
};

/// Returns how; nullopt: the outer rows are others, keys of rows need escaping, or a table lies in a cluster.
std::optional<MemberLookup> member_lookup(const LookupJoin& join);

/// Returns the set of an index that has the keys of all rows which satisfy the condition on the looked-up table: rows with other keys need not be
/// read. nullopt: the rows are not found by their key, or no index answers a part of the condition.
std::optional<SetExpression> set_of_condition(const LookupJoin& join);

}  // namespace redquel::planner
