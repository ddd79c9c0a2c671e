#pragma once

#include <span>
#include <string>

#include "executor/context/execution_context.h"
#include "executor/memory/table_memory.h"

namespace redquel::executor {

/// Reads the whole table into its copy. The caller has the maintenance lock, and the keeper observes the copy. Returns an empty text, or the
/// reason why the table is not kept; then the copy is empty. Throws what reads throw.
asio::awaitable<std::string> fill_copy(TableCopyPtr copy, std::vector<std::int16_t> numbers, TableMemory& memory, const Keeper& keeper,
                                       ExecutionContext& context);

/// Reads further columns of the rows that the copy has.
asio::awaitable<std::string> fill_columns(TableCopyPtr copy, std::vector<std::int16_t> numbers, TableMemory& memory, const Keeper& keeper,
                                          ExecutionContext& context);

/// Reads the rows again that have changed, in pieces. `read`: counts them.
asio::awaitable<std::string> read_changes(TableCopyPtr copy, const Keeper& keeper, ExecutionContext& context, std::size_t& read);

}  // namespace redquel::executor
