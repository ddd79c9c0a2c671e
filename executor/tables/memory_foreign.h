#pragma once

#include "executor/context/execution_context.h"
#include "executor/memory/table_memory.h"

namespace redquel::executor {

// Copies of foreign tables. A row's member is its key; keys of some layouts have many rows, which are read again together. Both throw
// NotKept or SqlError where the rows cannot be kept.

/// Reads all rows: SCAN while the keys that change are noted, or the one key of a template without slots.
asio::awaitable<void> fill_foreign(TableCopyPtr copy, std::vector<std::int16_t> numbers, TableMemory& memory, const Keeper& keeper,
                                   ExecutionContext& context);

/// Reads the rows of the keys again that have changed. `read`: counts them.
asio::awaitable<void> read_foreign_again(TableCopyPtr copy, const Keeper& keeper, ExecutionContext& context, std::size_t& read);

}  // namespace redquel::executor
