#pragma once

#include <functional>

namespace redquel::parser {

/// Runs `work` on a thread of its own with a stack for deep trees (address space only, what is not touched costs
/// nothing) and waits for it. An exception of `work` comes back to the caller. Throws SqlError 53200 if no thread can
/// be made.
void run_on_deep_stack(const std::function<void()>& work);

}  // namespace redquel::parser
