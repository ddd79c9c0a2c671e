#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "executor/memory/resp3_decoder.h"

namespace redquel::executor {

// Messages that wait for a stalled tracker count towards maxmemory: Redis would evict rows, or refuse writes, for them.

/// Returns maxmemory in bytes (0: none) from a reply of INFO memory; nullopt: it is not there.
std::optional<std::uint64_t> memory_limit(std::string_view info);
/// Returns true if Redis disconnects clients before they take more than a half of maxmemory. `reply`: of CONFIG GET maxmemory-clients, bytes or a
/// percentage; perhaps an error.
bool bounds_clients(const Resp3Value& reply, std::uint64_t maxmemory);

}  // namespace redquel::executor
