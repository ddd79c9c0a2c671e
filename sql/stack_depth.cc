#include "sql/stack_depth.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sql/computation_pause.h"
#include "sql/error.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

/// Left for what the innermost level still calls, and for unwinding.
constexpr std::size_t kReserve = std::size_t{512} << 10;

/// The lowest address that this thread's recursions may reach.
std::uintptr_t lowest_address() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(lowest) + std::min(kReserve, size / 2);
}

std::uintptr_t& limit_of_thread() {
  thread_local std::uintptr_t lowest = lowest_address();
  return lowest;
}

}  // namespace

std::uintptr_t exchange_stack_limit(std::uintptr_t lowest) { return std::exchange(limit_of_thread(), lowest); }

void check_stack_depth() {
  if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) >= limit_of_thread()) return;
  throw stack_depth_exceeded()
      .hint(
          "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's "
          "stack depth limit is adequate.");
}

}  // namespace redquel::sql
