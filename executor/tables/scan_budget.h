#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <string>

#include "executor/context/execution_context.h"

namespace redquel::executor {

/// The hint where the elements of a large structure are read.
inline constexpr const char* kElementHint = "Name the element in WHERE: an element of a large structure counts as a key.";

/// Counts `keys` that the next step of a scan makes Redis look at. Waits where redquel.max_keys_per_second says so, and sends a NOTICE each
/// second where redquel.progress is on. Throws 54000 beyond redquel.max_scanned_keys; `avoided_by` is the hint.
asio::awaitable<void> count_scanned_keys(ExecutionContext& context, std::size_t keys, std::string avoided_by);

/// Makes the steps of reads so short that other clients of a Redis that is only looked at hardly wait for them. Elsewhere: nothing.
void bound_steps(ExecutionContext& context);

}  // namespace redquel::executor
