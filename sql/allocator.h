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

/// From now on a thread of the allocator gives pages back that have been free for some time. Otherwise the threads that allocate do so, which
/// takes up to a tenth of a second of a statement's thread.
void start_page_thread();

/// Gives the pages that the allocator keeps for later back to the system.
void return_free_pages();

/// The allocator's counters of one thread: bytes of all blocks. Null until they are found.
struct ThreadCounters {
  const std::uint64_t* allocated = nullptr;
  const std::uint64_t* freed = nullptr;
  bool has_figures = false;
};
inline constinit thread_local ThreadCounters thread_counters;
/// Finds the counters of this thread. Without such an allocator they count nothing.
void find_thread_counters();

/// Returns the bytes of all blocks that this thread has allocated, less the bytes of those that it has freed. Reads two numbers.
inline std::optional<std::int64_t> thread_balance() {
  if (thread_counters.allocated == nullptr) [[unlikely]] find_thread_counters();
  if (!thread_counters.has_figures) return std::nullopt;
  return static_cast<std::int64_t>(*thread_counters.allocated - *thread_counters.freed);
}

}  // namespace redquel::sql
