#pragma once

#include <cstddef>
#include <optional>

namespace redquel::server {

/// Returns the bytes of memory that this process may use: those of the machine, or of its control group if that has fewer.
std::size_t machine_memory();

/// Returns the default of cache.memory: an eighth of the memory, at most 1 GB.
std::size_t default_cache_memory();

/// Returns the bytes that the allocator has given out, with what it loses to fragments; nullopt: it does not say.
std::optional<std::size_t> allocated_memory();

/// Gives pages back to the system that the allocator keeps for later, if they and those in use are more than `most` bytes.
void return_free_memory(std::size_t most);

}  // namespace redquel::server
