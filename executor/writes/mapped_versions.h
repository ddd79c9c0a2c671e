#pragma once

#include "executor/context/execution_context.h"
#include "executor/storage/mapped_unit.h"

namespace redquel::executor {

/// For a table that keeps a number of versions: adds to the unit the removal of the versions that its new rows exceed. No structure lists
/// the versions: the keyspace is scanned. 55000 if that is forbidden.
asio::awaitable<void> drop_old_versions(MappedUnit& unit, ExecutionContext& context, ExecutionCounters* counters);

}  // namespace redquel::executor
