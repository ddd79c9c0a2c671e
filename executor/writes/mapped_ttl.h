#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/context/execution_context.h"
#include "executor/storage/mapped_unit.h"

namespace redquel::executor {

/// Gives the changed rows of a transaction the time to live that the statement did not ask for: what the transaction made of it, else
/// what Redis says of tables with a key per row. For the transaction's later statements, which read the rows as they are in its buffer.
asio::awaitable<void> add_times_to_live(MappedUnit& unit, ExecutionContext& context, ExecutionCounters* counters);

}  // namespace redquel::executor
