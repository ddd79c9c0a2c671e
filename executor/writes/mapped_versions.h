#pragma once

#include "executor/context/execution_context.h"
#include "executor/storage/mapped_unit.h"

namespace redquel::executor {

/// Of a table that keeps so many versions: adds to the unit the removal of those that its new rows make too many. Which versions there are
/// nothing says: the keyspace is scanned. 55000 where that is forbidden.
asio::awaitable<void> drop_old_versions(MappedUnit& unit, ExecutionContext& context, ExecutionCounters* counters);

}  // namespace redquel::executor
