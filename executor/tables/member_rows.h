#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <optional>

#include "executor/context/execution_context.h"
#include "planner/physical/member_lookup.h"

namespace redquel::executor {

/// Reads the members of a set together with the rows that have them as keys, in one command and one round trip, and joins them. Where the
/// table of the set was not found small during the last second, a read-only script looks at the set's size first. `most_rows`: members
/// of the set. Returns nullopt if there are more of them, or if Redis refuses the command: the outer input must be read then.
asio::awaitable<std::optional<sql::Batch>> read_member_rows(const planner::LookupJoin& join, const planner::MemberLookup& members, std::size_t most_rows,
                                                            ExecutionContext& context, ExecutionCounters* counters);

}  // namespace redquel::executor
