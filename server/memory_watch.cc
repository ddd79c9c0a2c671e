#include "server/memory_watch.h"

#include <chrono>

namespace redquel::server {

namespace {

using namespace std::chrono_literals;

/// Between two measurements; the shorter one from half of the limit on.
constexpr auto kMeasurePause = 250ms, kShortMeasurePause = 20ms;

void measure(sql::ProcessMemory& memory, ServerCounts& figures) {
  memory.measure();
  if (memory.is_full()) memory.end_largest();
  for (std::size_t part = 0; part < sql::kMemoryParts; ++part) figures.memory_parts[part] = memory.used(static_cast<sql::MemoryPart>(part));
  figures.memory_unaccounted = memory.unaccounted();
  figures.memory_limit = memory.limits().process;
}

}  // namespace

void MemoryWatch::run(sql::ProcessMemory& memory, ServerCounts& figures, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    measure(memory, figures);
    const bool is_near = memory.used() + memory.unaccounted() > memory.limits().process / 2;
    pause_.wait_for(lock, stop, is_near ? kShortMeasurePause : kMeasurePause, [] { return false; });
  }
}

}  // namespace redquel::server
