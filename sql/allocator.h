#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace redquel::sql {

// The figures of jemalloc, which the program is linked with. Other allocators (builds with sanitizers, unit tests) have none of them.

/// Returns the bytes of all pages with live blocks, for C libraries, too; with what is lost to fragments. Takes about 40 µs.
std::optional<std::size_t> active_memory();

/// Gives pages back to the system that the allocator keeps for later, if they and those in use are more than `most` bytes.
void return_free_memory(std::size_t most);

/// Returns the bytes of all blocks that this thread has allocated, less the bytes of those that it has freed. Reads two numbers.
std::optional<std::int64_t> thread_balance();

}  // namespace redquel::sql
