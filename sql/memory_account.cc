#include "sql/memory_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "sql/allocator.h"
#include "sql/value_errors.h"

namespace redquel::sql {

namespace {

/// A session that holds more than this part of the limit may not overdraw.
constexpr std::size_t kSmallShare = 256;
/// The part of the limit that may be overdrawn.
constexpr std::size_t kOverdraft = 3;
/// A session that holds less than this part of the limit is not worth ending.
constexpr std::size_t kLargeShare = 64;
/// The part of a clients' limit that one session may hold.
constexpr std::size_t kClientShare = 4;

/// Beyond the limit and this part of it, a thread that is about to allocate gives free pages back itself.
constexpr std::size_t kOwnRelease = 4;

/// A measurement takes as long as the system needs for a tenth of such a block.
constexpr std::size_t kMeasuredBlock = std::size_t{8} << 20;
/// A thread allocates a few megabytes in this time.
constexpr std::chrono::steady_clock::duration kJustNow = std::chrono::milliseconds(5);

/// Before memory is refused, the last measurement may be as old: the thread that measures may not have had its turn.
constexpr std::chrono::steady_clock::duration kLongAgo = std::chrono::milliseconds(20);
/// The block that this thread is about to allocate: the allocator gives back what it keeps for later to make room for it.
thread_local std::size_t coming = 0;

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

SqlError exceeded(std::string detail, const char* key) {
  return out_of_memory().detail(std::move(detail)).hint(fmt::format("See limits.{} in the configuration.", key));
}

}  // namespace

bool ProcessMemory::take(MemoryPart part, std::size_t bytes, bool may_overdraw) {
  const std::size_t most = limits_.process + (may_overdraw ? limits_.process / kOverdraft : 0);
  const auto excess = [&] {
    const std::size_t held = used() + unaccounted();
    return held > most ? held - most : 0;
  };
  used_.fetch_add(bytes, std::memory_order_relaxed);
  if (excess() > 0 && part != MemoryPart::kCache) ask_reserve(excess());
  if (excess() > 0 && now() - measured_at_.load(std::memory_order_relaxed) > kLongAgo.count()) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);  // nothing has been allocated for it
    measure();
    used_.fetch_add(bytes, std::memory_order_relaxed);
  }
  if (excess() > 0) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  parts_[static_cast<std::size_t>(part)].fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

void ProcessMemory::give_back(MemoryPart part, std::size_t bytes) {
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  parts_[static_cast<std::size_t>(part)].fetch_sub(bytes, std::memory_order_relaxed);
}

void ProcessMemory::measure() {
  std::size_t resident = 0;
  {
    const std::lock_guard lock(mutex_);
    measured_at_.store(now(), std::memory_order_relaxed);
    note_reserve();
    // In this order a block that is charged and allocated meanwhile is counted twice rather than not at all.
    const std::size_t accounted = used(), pending = pending_;
    const std::optional<AllocatorFigures> figures = allocator_figures();
    if (!figures) return;
    compare(figures->active + pending, accounted);
    resident = figures->resident + pending + coming;
  }
  // It may take a tenth of a second: a statement's thread leaves it to the watch of the process while there is room below its bound.
  const std::size_t most = coming == 0 ? limits_.process : limits_.process + limits_.process / kOwnRelease;
  if (resident > most) return_free_pages();
}

void ProcessMemory::measure_before(std::size_t bytes) {
  if (bytes >= kMeasuredBlock || now() - measured_at_.load(std::memory_order_relaxed) > kJustNow.count()) {
    coming = bytes;
    measure();
    coming = 0;
  }
}

void ProcessMemory::note_measured(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  note_reserve();
  compare(bytes + pending_, used());
}

void ProcessMemory::compare(std::size_t measured, std::size_t accounted) {
  unaccounted_.store(measured > accounted ? measured - accounted : 0, std::memory_order_relaxed);
  if (reserve_ == nullptr) return;
  const std::size_t held = used() + unaccounted();
  reserve_->set_room(held < limits_.process ? limits_.process - held : 0);
  if (held <= limits_.process) return;
  reserve_->shrink(held - limits_.process);
  note_reserve();
}

void ProcessMemory::note_reserve() {
  if (reserve_ == nullptr) return;
  const std::size_t now = reserve_->bytes();
  const std::size_t before = parts_[static_cast<std::size_t>(MemoryPart::kCache)].exchange(now, std::memory_order_relaxed);
  used_.fetch_add(now - before, std::memory_order_relaxed);
}

void ProcessMemory::set_reserve(MemoryReserve* reserve) {
  const std::lock_guard lock(mutex_);
  reserve_ = reserve;
  if (reserve_ != nullptr) return note_reserve();
  used_.fetch_sub(parts_[static_cast<std::size_t>(MemoryPart::kCache)].exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
}

void ProcessMemory::ask_reserve(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (reserve_ == nullptr) return;
  reserve_->shrink(bytes);
  note_reserve();
}

void ProcessMemory::end_largest() {
  const std::lock_guard lock(mutex_);
  const auto largest = std::ranges::max_element(sessions_, {}, [](const SessionMemory* session) { return session->used(); });
  if (largest == sessions_.end() || (*largest)->used() < limits_.process / kLargeShare) return;
  (*largest)->must_end_.store(true, std::memory_order_relaxed);
}

void ProcessMemory::add(SessionMemory* session) {
  const std::lock_guard lock(mutex_);
  sessions_.insert(session);
}

void ProcessMemory::remove(SessionMemory* session) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(session);
}

SessionMemory::Refusal SessionMemory::ask(MemoryPart part, std::size_t bytes) {
  const MemoryLimits& limits = process_.limits();
  const std::size_t after = used() + bytes;
  const bool is_of_client = part == MemoryPart::kClients;
  if (is_of_client && clients_ + bytes > limits.clients / kClientShare) return Refusal::kSessionClients;
  if (is_of_client && process_.used(part) + bytes > limits.clients) return Refusal::kClients;
  if (after > limits.session) return Refusal::kSession;
  if (must_end() || !process_.take(part, bytes, after <= limits.process / kSmallShare)) return Refusal::kProcess;
  if (is_of_client) clients_ += bytes;
  used_.store(after, std::memory_order_relaxed);
  return Refusal::kNone;
}

void SessionMemory::take(MemoryPart part, std::size_t bytes) {
  const MemoryLimits& limits = process_.limits();
  constexpr const char* kClientMemory = "Messages, prepared statements and portals of {} need more than {} kB.";
  switch (ask(part, bytes)) {
    case Refusal::kNone:
      return;
    case Refusal::kSessionClients:
      throw exceeded(fmt::format(fmt::runtime(kClientMemory), "this session", limits.clients / kClientShare >> 10), "client_memory");
    case Refusal::kClients:
      throw exceeded(fmt::format(fmt::runtime(kClientMemory), "all sessions", limits.clients >> 10), "client_memory");
    case Refusal::kSession:
      throw exceeded(fmt::format("This session needs more than {} kB.", limits.session >> 10), "session_memory");
    case Refusal::kProcess:
      throw process_is_full();
  }
}

SqlError SessionMemory::process_is_full() const {
  return exceeded(fmt::format("All sessions together need more than {} kB.", process_.limits().process >> 10), "memory");
}

void SessionMemory::give_back(MemoryPart part, std::size_t bytes) {
  process_.give_back(part, bytes);
  used_.store(used() - bytes, std::memory_order_relaxed);
  if (part == MemoryPart::kClients) clients_ -= bytes;
}

}  // namespace redquel::sql
