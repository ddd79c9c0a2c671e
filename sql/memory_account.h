#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "sql/error.h"

namespace redquel::sql {

/// The uses of memory; one figure of the metrics each.
enum class MemoryPart : std::uint8_t {
  kClients,     // between statements: half-received messages, prepared statements, portals, rows of cursors
  kStatements,  // while they run: operators, values, replies of Redis, results on their way
  kCache,       // rows that the process keeps for all sessions
};
inline constexpr std::size_t kMemoryParts = 3;

/// Bytes. PostgreSQL has no such bounds.
struct MemoryLimits {
  std::size_t process;  // all parts together
  std::size_t session;  // of one session
  std::size_t clients;  // of kClients; one session may hold a quarter
};

/// Memory that is given back when sessions need it.
class MemoryReserve {
 public:
  virtual ~MemoryReserve() = default;
  /// Gives back about so many bytes, at once or soon. Any thread may call, and calls often; it waits for nothing.
  virtual void shrink(std::size_t bytes) = 0;
  /// Returns the bytes that it holds.
  virtual std::size_t bytes() const = 0;
  /// From now on it may grow by so many bytes.
  virtual void set_room(std::size_t bytes) = 0;
};

class SessionMemory;

/// The account of the process. All sessions of all threads share one; any thread may call.
class ProcessMemory {
 public:
  explicit ProcessMemory(const MemoryLimits& limits) : limits_(limits) {}
  ProcessMemory(const ProcessMemory&) = delete;
  ProcessMemory& operator=(const ProcessMemory&) = delete;

  const MemoryLimits& limits() const { return limits_; }
  /// Takes memory, if it fits. Before it gives up it asks the reserve to shrink. `may_overdraw`: a third more than the limit fits, so that
  /// sessions that hold little go on while large ones fail.
  bool take(MemoryPart part, std::size_t bytes, bool may_overdraw = false);
  void give_back(MemoryPart part, std::size_t bytes);

  std::size_t used(MemoryPart part) const { return parts_[static_cast<std::size_t>(part)].load(std::memory_order_relaxed); }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  /// Returns the memory of the process beyond what is accounted, as of the last measurement.
  std::size_t unaccounted() const { return unaccounted_.load(std::memory_order_relaxed); }
  bool is_full() const { return used() + unaccounted() >= limits_.process; }

  /// Compares the account with the figures of the allocator, and lets it give back what it keeps beyond the limit.
  void measure();
  /// Measures before a block of so many bytes is allocated, unless the last measurement is from just now.
  void measure_before(std::size_t bytes);
  /// Takes the number of bytes that the allocator has given out.
  void note_measured(std::size_t bytes);
  /// Sets what shrinks before sessions fail; null: nothing does. The reserve outlives its registration.
  void set_reserve(MemoryReserve* reserve);
  /// Makes the session that holds most fail with 53200, if that is worth it: for a process that stays full.
  void end_largest();

 private:
  friend class SessionMemory;
  friend class PendingBytes;
  void compare(std::size_t measured, std::size_t accounted);  // with the mutex
  void add(SessionMemory* session);
  void remove(SessionMemory* session);
  void ask_reserve(std::size_t bytes);
  void note_reserve();  // with the mutex

  const MemoryLimits limits_;
  std::atomic<std::size_t> used_{0}, unaccounted_{0}, pending_{0};
  std::atomic<std::int64_t> measured_at_{0};  // ticks of the steady clock
  std::array<std::atomic<std::size_t>, kMemoryParts> parts_{};
  std::mutex mutex_;
  MemoryReserve* reserve_ = nullptr;
  std::unordered_set<SessionMemory*> sessions_;
};

/// Bytes that are in the account and about to be allocated. Measurements count them until the destructor runs, which comes after the allocation.
class PendingBytes {
 public:
  PendingBytes(ProcessMemory& process, std::size_t bytes) : process_(process), bytes_(bytes) { process_.pending_ += bytes_; }
  ~PendingBytes() { process_.pending_ -= bytes_; }
  PendingBytes(const PendingBytes&) = delete;
  PendingBytes& operator=(const PendingBytes&) = delete;

 private:
  ProcessMemory& process_;
  std::size_t bytes_;
};

/// The account of one session. Belongs to the session's thread, except for `used` and `must_end`.
class SessionMemory {
 public:
  explicit SessionMemory(ProcessMemory& process) : process_(process) { process_.add(this); }
  ~SessionMemory() { process_.remove(this); }
  SessionMemory(const SessionMemory&) = delete;
  SessionMemory& operator=(const SessionMemory&) = delete;

  /// Throws 53200 where the session or the process would hold too much; then nothing is taken.
  void take(MemoryPart part, std::size_t bytes);
  /// Returns false instead.
  bool try_take(MemoryPart part, std::size_t bytes) { return ask(part, bytes) == Refusal::kNone; }
  void give_back(MemoryPart part, std::size_t bytes);

  ProcessMemory& process() const { return process_; }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  /// Returns true if the running statement shall fail because the process is full.
  bool must_end() const { return must_end_.load(std::memory_order_relaxed); }
  /// A statement begins or ends: it is not the one that `end_largest` meant.
  void clear_end() { must_end_.store(false, std::memory_order_relaxed); }
  SqlError process_is_full() const;

 private:
  friend class ProcessMemory;
  enum class Refusal : std::uint8_t { kNone, kSessionClients, kClients, kSession, kProcess };
  Refusal ask(MemoryPart part, std::size_t bytes);

  ProcessMemory& process_;
  std::atomic<std::size_t> used_{0};  // only the session's thread writes it
  std::size_t clients_ = 0;
  std::atomic<bool> must_end_{false};
};

/// A number of bytes of a session, given back with this object.
class HeldBytes {
 public:
  HeldBytes() = default;
  /// Throws 53200.
  HeldBytes(SessionMemory& memory, std::size_t bytes, MemoryPart part = MemoryPart::kClients) : memory_(&memory), part_(part) { resize(bytes); }
  HeldBytes(HeldBytes&& other) noexcept : memory_(other.memory_), bytes_(std::exchange(other.bytes_, 0)), part_(other.part_) {}
  HeldBytes& operator=(HeldBytes&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(part_, other.part_);
    return *this;
  }
  ~HeldBytes() {
    if (bytes_ > 0) memory_->give_back(part_, bytes_);
  }

  /// Throws 53200; then it is as it was. Without effect on an object that belongs to no session.
  void resize(std::size_t bytes) {
    if (memory_ == nullptr) return;
    if (bytes > bytes_) memory_->take(part_, bytes - bytes_);
    else if (bytes < bytes_) memory_->give_back(part_, bytes_ - bytes);
    bytes_ = bytes;
  }
  /// Returns false where resize() throws.
  bool try_resize(std::size_t bytes) {
    if (memory_ != nullptr && bytes > bytes_ && !memory_->try_take(part_, bytes - bytes_)) return false;
    if (memory_ != nullptr && bytes > bytes_) bytes_ = bytes;
    resize(bytes);
    return true;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  SessionMemory* memory_ = nullptr;
  std::size_t bytes_ = 0;
  MemoryPart part_ = MemoryPart::kClients;
};

}  // namespace redquel::sql
