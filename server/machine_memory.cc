#include "server/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

/// A function of jemalloc. Null if another allocator was linked, as in builds with sanitizers.
extern "C" int mallctl(const char* name, void* old, std::size_t* old_bytes, void* value, std::size_t value_bytes) noexcept __attribute__((weak));

namespace redquel::server {

namespace {

std::optional<std::size_t> allocator_figure(const char* name) {
  if (mallctl == nullptr) return std::nullopt;
  std::uint64_t epoch = 1;
  std::size_t bytes = 0, size = sizeof(bytes);
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  if (mallctl(name, &bytes, &size, nullptr, 0) != 0) return std::nullopt;
  return bytes;
}

}  // namespace

std::size_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  std::size_t bytes = pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : 0;
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::size_t limit = 0;
    if (file >> limit && limit > 0) bytes = std::min(bytes, limit);  // "max": no limit
  }
  return bytes;
}

std::size_t default_cache_memory() { return std::min(machine_memory() / 8, std::size_t{1} << 30); }

std::optional<std::size_t> allocated_memory() { return allocator_figure("stats.active"); }

void return_free_memory(std::size_t most) {
  const std::optional<std::size_t> resident = allocator_figure("stats.resident");
  if (resident && *resident > most) mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // of all arenas
}

}  // namespace redquel::server
