#include "server/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace redquel::server {

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

}  // namespace redquel::server
