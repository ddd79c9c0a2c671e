#include "sql/interrupts.h"

#include <fmt/format.h>

#include <exception>
#include <unordered_map>
#include <utility>

#include "sql/computation_pause.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

/// PostgreSQL's largest value.
constexpr std::size_t kMostAllocated = std::size_t{1} << 30;

thread_local std::unordered_map<std::int32_t, const Interrupts*> sessions;
thread_local const Interrupts* current = nullptr;
thread_local std::size_t scopes = 0;     // that live
thread_local std::size_t allocated = 0;  // in the innermost scope
thread_local ComputationPause* current_pause = nullptr;

/// The state of this thread is that of other computations meanwhile.
void pause_computation() {
  const Interrupts* const own = std::exchange(current, nullptr);
  const std::size_t own_scopes = std::exchange(scopes, 0), own_allocated = std::exchange(allocated, 0);
  DeferredCalls* const own_calls = exchange_deferred_calls(nullptr);
  std::exception_ptr end;
  try {
    current_pause->pause();
  } catch (...) {
    end = std::current_exception();
  }
  current = own;
  scopes = own_scopes;
  allocated = own_allocated;
  exchange_deferred_calls(own_calls);
  if (end) std::rethrow_exception(end);
}

}  // namespace

ComputationPause* exchange_pause(ComputationPause* pause) { return std::exchange(current_pause, pause); }

void Interrupts::check() const {
  if (cancel_requested_.load(std::memory_order_relaxed)) throw SqlError(sqlstate::kQueryCanceled, "canceling statement due to user request");
  if (memory_ != nullptr && memory_->must_end()) throw memory_->process_is_full();
  if (deadline_ != Clock::time_point::max() && Clock::now() > deadline_) {
    throw SqlError(sqlstate::kQueryCanceled, "canceling statement due to statement timeout");
  }
}

void set_interrupts(std::int32_t process_id, const Interrupts* interrupts) {
  if (interrupts == nullptr) {
    sessions.erase(process_id);
  } else {
    sessions[process_id] = interrupts;
  }
}

InterruptScope::InterruptScope(std::int32_t process_id) : before_(current), allocated_before_(allocated) {
  const auto found = process_id == 0 ? sessions.end() : sessions.find(process_id);
  if (found != sessions.end()) current = found->second;
  allocated = 0;
  if (scopes++ == 0 && current != nullptr) current->hold_values(0);
}

InterruptScope::~InterruptScope() {
  --scopes;
  if (scopes > 0 && allocated > 0 && current != nullptr && current == before_) current->hold_values(current->held_values() - allocated);
  current = before_;
  allocated = allocated_before_;
}

void check_interrupts() {
  if (current_pause != nullptr && current_pause->is_turn_over()) pause_computation();
  if (current != nullptr) current->check();
}

void note_analysis() {
  constexpr std::size_t kStepBytes = 256;  // WorkMeter counts bytes: a step of the analysis takes as long as so many
  thread_local WorkMeter steps;
  steps.add(kStepBytes);
}

void check_allocation(std::size_t bytes) {
  check_interrupts();
  if (scopes == 0) return;
  if (allocated + bytes <= kMostAllocated) {
    if (current != nullptr) current->hold_values(current->held_values() + bytes);
    allocated += bytes;
    return;
  }
  throw out_of_memory()
      .detail(fmt::format("The values of one expression need more than {} MB.", kMostAllocated >> 20))
      .hint("Let the statement make smaller values, or fewer of them at a time.");
}

}  // namespace redquel::sql
