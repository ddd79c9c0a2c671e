#pragma once

#include <memory>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/storage/mapped_unit.h"

namespace redquel::executor {

/// Finds the rows of other foreign tables that belong to the rows which the unit deletes (option "parent"), and those that belong to
/// these. Returns a unit for each of these tables that deletes them.
asio::awaitable<std::vector<std::shared_ptr<MappedUnit>>> delete_children(const MappedUnit& unit, ExecutionContext& context,
                                                                          ExecutionCounters* counters);

}  // namespace redquel::executor
