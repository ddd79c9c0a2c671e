#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sql/memory_account.h"

namespace redquel::sql {

/// Blocks of fewer bytes are charged after they were allocated.
inline constexpr std::size_t kLargeAllocation = std::size_t{1} << 20;

/// The reasons to end a computation that does not return to the event loop: the deadline of the session's statement, and a request of
/// another thread.
class Interrupts {
 public:
  using Clock = std::chrono::steady_clock;

  /// A statement begins. No deadline: `Clock::time_point::max()`.
  void begin_statement(Clock::time_point deadline) {
    deadline_ = deadline;
    values_.resize(0);
    if (memory_ != nullptr) memory_->clear_end();
    cancel_requested_.store(false, std::memory_order_relaxed);
  }
  /// The statement has ended: nothing interrupts the session any more.
  void end_statement() { begin_statement(Clock::time_point::max()); }
  /// Any thread may call it.
  void request_cancel() { cancel_requested_.store(true, std::memory_order_relaxed); }

  /// Charges the values of evaluations to the session's account, which is null from the session's end on.
  void set_memory(SessionMemory* memory) {
    values_ = memory != nullptr ? HeldBytes(*memory, 0, MemoryPart::kStatements) : HeldBytes();
    memory_ = memory;
  }
  SessionMemory* memory() const { return memory_; }
  /// Changes the charge: an evaluation's values are held until the next evaluation begins. Throws 53200.
  void hold_values(std::size_t bytes) const { values_.resize(bytes); }
  std::size_t held_values() const { return values_.bytes(); }

  /// Throws SqlError 57014 if the deadline is over or a cancel was requested, 53200 if the process needs the statement's memory.
  void check() const;

 private:
  Clock::time_point deadline_ = Clock::time_point::max();
  std::atomic<bool> cancel_requested_ = false;
  SessionMemory* memory_ = nullptr;
  mutable HeldBytes values_;
};

/// Makes the interrupts of a session of this thread known by its process id. Null: forgets them.
void set_interrupts(std::int32_t process_id, const Interrupts* interrupts);

/// Makes a session's interrupts those of the running computation, and charges the memory that the computation takes to the session's account:
/// all that the thread allocates, less all that it frees. Never lives across a co_await. An unknown session (0, one of another thread): they
/// stay as they are.
class InterruptScope {
 public:
  /// kHeld: the values of the session's last evaluation are still in use.
  enum class Values : std::uint8_t { kAnew, kHeld };
  explicit InterruptScope(std::int32_t process_id, Values values = Values::kAnew);
  /// `interrupts` outlive it.
  explicit InterruptScope(const Interrupts& interrupts, Values values = Values::kAnew);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  void begin(Values values);

  const Interrupts* before_;
  std::size_t announced_before_;
};

/// Throws SqlError 57014 if the statement that this thread computes is cancelled or past its deadline, 53200 if its memory is too much. Reads
/// the clock: loops count their steps by a WorkMeter.
void check_interrupts();
/// check_interrupts() before a large result is allocated. Throws SqlError 53200 where the results of one InterruptScope are together
/// larger than the largest value.
void check_allocation(std::size_t bytes);

/// The charge of a large block while operator new, or a C library, takes it from the allocator. The running computation holds it from then on.
/// Throws SqlError 53200 where the session or the process would hold too much. Without effect on small blocks, and where the thread computes
/// for no statement: connections that several sessions share do not fail.
class BlockCharge {
 public:
  explicit BlockCharge(std::size_t bytes);

 private:
  std::optional<PendingBytes> pending_;
};

/// Counts a step of the analysis of a statement, such as an expression that is bound. Checks the interrupts a few times in a millisecond.
void note_analysis();

/// Counts the work of a loop, in bytes walked or made, and checks the interrupts a few times in a millisecond.
class WorkMeter {
 public:
  void add(std::size_t bytes) {
    done_ += bytes;
    if (done_ >= kStep) {
      done_ = 0;
      check_interrupts();
    }
  }

 private:
  static constexpr std::size_t kStep = 64 * 1024;
  std::size_t done_ = 0;
};

}  // namespace redquel::sql
