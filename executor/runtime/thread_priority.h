#pragma once

#include <chrono>

namespace redquel::executor {

/// Lets this thread run after threads of normal priority, if there are not processors for all (nice 19: 1.5 % of a processor beside a busy
/// thread). New threads inherit it.
void lower_priority();

/// Asks the kernel to run this thread, once it has work, soon and briefly: for a slice of this length instead of about 3 ms, after which it
/// chooses again. The share of the processors stays. Linux since 6.12; without effect before. New threads and child processes inherit it.
void request_slice(std::chrono::microseconds length);

/// The slice of threads that serve many sessions: they wait for each other often and do little each time.
inline constexpr std::chrono::microseconds kServiceSlice{200};
/// The slice of threads of low priority: a short one would let them run sooner.
inline constexpr std::chrono::microseconds kSharedWorkSlice{3000};

}  // namespace redquel::executor
