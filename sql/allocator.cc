#include "sql/allocator.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <new>

#include "sql/interrupts.h"

/// A function of jemalloc. Null if another allocator was linked.
extern "C" int mallctl(const char* name, void* old, std::size_t* old_bytes, void* value, std::size_t value_bytes) noexcept __attribute__((weak));

namespace redquel::sql {
namespace {

std::size_t figure(const char* name) {
  std::size_t bytes = 0, size = sizeof(bytes);
  mallctl(name, &bytes, &size, nullptr, 0);
  return bytes;
}

constexpr std::uint64_t kNoCount = 0;

}  // namespace

std::optional<AllocatorFigures> allocator_figures() {
  if (mallctl == nullptr) return std::nullopt;
  std::uint64_t epoch = 1;  // any number: the figures of now
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  return AllocatorFigures{.active = figure("stats.active"), .resident = figure("stats.resident")};
}

void start_page_thread() {
  bool is_on = true;
  if (mallctl != nullptr) mallctl("background_thread", nullptr, nullptr, &is_on, sizeof is_on);
}

void return_free_pages() {
  if (mallctl != nullptr) mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // of all arenas
}

void find_thread_counters() {
  thread_counters = {.allocated = &kNoCount, .freed = &kNoCount, .has_figures = false};
  if (mallctl == nullptr) return;
  std::size_t size = sizeof(void*);
  std::uint64_t *allocated = nullptr, *freed = nullptr;
  if (mallctl("thread.allocatedp", &allocated, &size, nullptr, 0) != 0 || mallctl("thread.deallocatedp", &freed, &size, nullptr, 0) != 0) return;
  thread_counters = {.allocated = allocated, .freed = freed, .has_figures = true};
}

}  // namespace redquel::sql

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their operators allocate with their own checks

namespace {

/// Operator new of the next library, which allocates.
using Allocate = void*(std::size_t);

template <std::size_t kWhich>
void* first_allocation(std::size_t bytes);

/// new and new[].
constinit std::array<std::atomic<Allocate*>, 2> next_new = {first_allocation<0>, first_allocation<1>};

template <std::size_t kWhich>
void* first_allocation(std::size_t bytes) {
  constexpr std::array<const char*, 2> kNames = {"_Znwm", "_Znam"};
  auto* const found = reinterpret_cast<Allocate*>(::dlsym(RTLD_NEXT, kNames[kWhich]));
  if (found == nullptr) throw std::bad_alloc();
  next_new[kWhich].store(found, std::memory_order_relaxed);
  return found(bytes);
}

[[gnu::noinline]] void* allocate_large(std::size_t bytes, Allocate* allocate) {
  const redquel::sql::BlockCharge charge(bytes);
  return allocate(bytes);
}

template <std::size_t kWhich>
inline void* allocate(std::size_t bytes) {
  Allocate* const next = next_new[kWhich].load(std::memory_order_relaxed);
  if (bytes >= redquel::sql::kLargeAllocation) [[unlikely]] return allocate_large(bytes, next);
  return next(bytes);
}

}  // namespace

// The program's own operators new charge large blocks to the evaluation that asks for them, also blocks of std::string and other library code.
void* operator new(std::size_t bytes) { return allocate<0>(bytes); }
void* operator new[](std::size_t bytes) { return allocate<1>(bytes); }

#endif
