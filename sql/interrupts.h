#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "sql/memory_account.h"

namespace redquel::sql {

/// Results of one evaluation that are smaller are not counted by check_allocation().
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

/// Makes a session's interrupts those of the running computation. Never lives across a co_await. An unknown session (0, one of another
/// thread): they stay as they are.
class InterruptScope {
 public:
  explicit InterruptScope(std::int32_t process_id);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  const Interrupts* before_;
  std::size_t allocated_before_;
};

/// Throws SqlError 57014 if the statement that this thread computes is cancelled or past its deadline. Reads the clock: loops count their
/// steps by a WorkMeter.
void check_interrupts();
/// check_interrupts() before a large result is allocated. Throws SqlError 53200 where the results of one InterruptScope are together
/// larger than the largest value.
void check_allocation(std::size_t bytes);

/// Counts a step of the analysis of a statement, such as an expression that is bound. Checks the interrupts about once a millisecond.
void note_analysis();

/// Counts the work of a loop, in bytes walked or made, and checks the interrupts about once a millisecond.
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
  static constexpr std::size_t kStep = 256 * 1024;
  std::size_t done_ = 0;
};

}  // namespace redquel::sql
