#include "sql/interrupts.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <unordered_map>
#include <utility>

#include "sql/allocator.h"
#include "sql/computation_pause.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

/// PostgreSQL's largest value.
constexpr std::size_t kMostAnnounced = std::size_t{1} << 30;

thread_local std::unordered_map<std::int32_t, const Interrupts*> sessions;
/// The session that this thread has looked up last: one statement opens many scopes.
struct KnownSession {
  std::int32_t process_id = 0;
  const Interrupts* interrupts = nullptr;
};
constinit thread_local KnownSession last_session;
constinit thread_local const Interrupts* current = nullptr;
constinit thread_local std::size_t scopes = 0;           // that live
constinit thread_local std::size_t announced = 0;        // by check_allocation() in the innermost scope
constinit thread_local std::int64_t balance_before = 0;  // of the thread, when the outermost scope began
constinit thread_local ComputationPause* current_pause = nullptr;

/// Returns the bytes that the outermost scope has allocated and not freed, negative where it has freed more. If the allocator has no such
/// figure, the bytes that were announced.
std::int64_t own_bytes() {
  const std::optional<std::int64_t> balance = thread_balance();
  return balance ? *balance - balance_before : static_cast<std::int64_t>(announced);
}

/// Charges what the computation holds, and `coming` bytes. Throws SqlError 53200.
void charge(std::size_t coming) {
  if (current == nullptr || scopes == 0) return;
  const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(own_bytes(), 0)) + coming;
  current->hold_values(bytes < kLargeAllocation ? 0 : bytes);
}

/// The state of this thread is that of other computations meanwhile.
void pause_computation() {
  const std::int64_t bytes = own_bytes();
  const Interrupts* const own = std::exchange(current, nullptr);
  const std::size_t own_scopes = std::exchange(scopes, 0), own_announced = std::exchange(announced, 0);
  DeferredCalls* const own_calls = exchange_deferred_calls(nullptr);
  std::exception_ptr end;
  try {
    current_pause->pause();
  } catch (...) {
    end = std::current_exception();
  }
  current = own;
  scopes = own_scopes;
  announced = own_announced;
  balance_before = thread_balance().value_or(0) - bytes;
  exchange_deferred_calls(own_calls);
  if (end) std::rethrow_exception(end);
}

/// Sets `last_session`; its interrupts are null for an unknown session.
void find_session(std::int32_t process_id) {
  const auto found = sessions.find(process_id);
  last_session = {.process_id = process_id, .interrupts = found == sessions.end() ? nullptr : found->second};
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
  last_session = {};
  if (interrupts == nullptr) {
    sessions.erase(process_id);
  } else {
    sessions[process_id] = interrupts;
  }
}

InterruptScope::InterruptScope(std::int32_t process_id, Values values) : before_(current), announced_before_(announced) {
  if (process_id != 0) {
    if (process_id != last_session.process_id) find_session(process_id);
    if (last_session.interrupts != nullptr) current = last_session.interrupts;
  }
  begin(values);
}

InterruptScope::InterruptScope(const Interrupts& interrupts, Values values) : before_(current), announced_before_(announced) {
  current = &interrupts;
  begin(values);
}

void InterruptScope::begin(Values values) {
  announced = 0;
  if (scopes++ > 0) return;
  balance_before = thread_balance().value_or(0);
  if (current == nullptr || current->held_values() == 0) return;
  if (values == Values::kAnew) current->hold_values(0);
  else balance_before -= static_cast<std::int64_t>(current->held_values());
}

InterruptScope::~InterruptScope() {
  --scopes;
  current = before_;
  announced = announced_before_;
}

void check_interrupts() {
  if (current_pause != nullptr && current_pause->is_turn_over()) pause_computation();
  if (current == nullptr) return;
  current->check();
  charge(0);
}

void note_analysis() {
  constexpr std::size_t kStepBytes = 256;  // WorkMeter counts bytes: a step of the analysis takes as long as so many
  thread_local WorkMeter steps;
  steps.add(kStepBytes);
}

void check_allocation(std::size_t bytes) {
  check_interrupts();
  if (scopes == 0) return;
  if (announced + bytes > kMostAnnounced) {
    throw out_of_memory()
        .detail(fmt::format("The values of one expression need more than {} MB.", kMostAnnounced >> 20))
        .hint("Let the statement make smaller values, or fewer of them at a time.");
  }
  charge(bytes);
  announced += bytes;
}

BlockCharge::BlockCharge(std::size_t bytes) {
  if (bytes < kLargeAllocation || current == nullptr || scopes == 0 || current->memory() == nullptr) return;
  ProcessMemory& process = current->memory()->process();
  process.measure_before(bytes);
  pending_.emplace(process, bytes);
  charge(bytes);
}

}  // namespace redquel::sql
