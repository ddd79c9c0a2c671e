#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace redquel::sql {

// The figures of jemalloc, which the program is linked with. Other allocators (builds with sanitizers, unit tests) have none of them.

struct AllocatorFigures {
  std::size_t active = 0;    // bytes of all pages with live blocks, those of C libraries, too; with what is lost to fragments
  std::size_t resident = 0;  // beside them pages that the allocator keeps for later
};

/// Takes about 40 µs.
std::optional<AllocatorFigures> allocator_figures();

/// Gives the pages that the allocator keeps for later back to the system.
void return_free_pages();

/// Returns the bytes of all blocks that this thread has allocated, less the bytes of those that it has freed. Reads two numbers.
std::optional<std::int64_t> thread_balance();

}  // namespace redquel::sql
