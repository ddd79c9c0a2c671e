#pragma once

#include <cstddef>

namespace redquel::server {

/// Returns the bytes of memory that this process may use: those of the machine, or of its control group if that has fewer.
std::size_t machine_memory();

/// Returns the default of cache.memory: an eighth of the memory, at most 1 GB.
std::size_t default_cache_memory();

}  // namespace redquel::server
