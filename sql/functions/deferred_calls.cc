#include "sql/functions/deferred_calls.h"

#include "sql/computation_pause.h"
#include "sql/functions/user_function_call.h"

namespace redquel::sql {
namespace {

thread_local DeferredCalls* current_calls = nullptr;

}  // namespace

DeferredCalls* current_deferred_calls() { return current_calls; }

DeferredCalls* exchange_deferred_calls(DeferredCalls* calls) { return std::exchange(current_calls, calls); }

DeferredCalls::Evaluation::Evaluation(DeferredCalls& calls) : outer_(std::exchange(current_calls, &calls)) { calls.next_ = 0; }
DeferredCalls::Evaluation::~Evaluation() { current_calls = outer_; }

bool is_deferred_function(const ScalarFunction& function) {
  return is_sequence_function(function) || is_advisory_lock_function(function) || is_redis_function(function) || is_time_to_live(function) ||
         is_signal_function(function) || &function == &user_function_call();
}

}  // namespace redquel::sql
