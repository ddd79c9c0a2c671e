#pragma once

#include <cstdint>

namespace redquel::sql {

class DeferredCalls;

/// Pauses a long computation of this thread, so that the thread does other work meanwhile. check_interrupts() asks it; a computation may
/// therefore pause wherever it checks its interrupts, and holds no reference into caches of its thread there.
class ComputationPause {
 public:
  virtual ~ComputationPause() = default;
  virtual bool is_turn_over() const = 0;
  /// Returns when the computation has its next turn. Throws if it shall end.
  virtual void pause() = 0;
};

/// Sets the pause of the computation that this thread runs; null: it cannot pause. Returns the one before.
ComputationPause* exchange_pause(ComputationPause* pause);
/// Sets the lowest address that recursions of this thread may reach, see check_stack_depth(). Returns the one before.
std::uintptr_t exchange_stack_limit(std::uintptr_t lowest);
/// Sets the deferred calls of the evaluation that this thread runs (DeferredCalls::Evaluation). Returns those before.
DeferredCalls* exchange_deferred_calls(DeferredCalls* calls);

}  // namespace redquel::sql
