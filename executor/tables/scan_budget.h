#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <string>

#include "executor/context/execution_context.h"

namespace redquel::executor {

/// The hint where the elements of a large structure are read.
inline constexpr const char* kElementHint = "Name the element in WHERE: an element of a large structure counts as a key.";

/// Counts `keys` that the next step of a scan makes Redis look at. Waits where redquel.max_keys_per_second says so. From the first step on a
/// NOTICE goes to the client each second where redquel.progress is on. Throws 54000 beyond redquel.max_scanned_keys; `avoided_by` is the hint.
asio::awaitable<void> count_scanned_keys(ExecutionContext& context, std::size_t keys, std::string avoided_by);

struct ScanAnnouncement {
  std::string what;
  std::size_t commands = 1;    // for each key
  bool only_if_long = false;   // a scan of a second is not announced
  const char* hint = nullptr;  // null: there is none
};
/// Says in a NOTICE that a scan of the whole keyspace begins: with the number of keys, and the time that it may take at the share of a Redis
/// that is only looked at.
asio::awaitable<void> announce_scan(ExecutionContext& context, ScanAnnouncement announcement);

/// Makes the steps of reads so short that other clients of a Redis that is only looked at hardly wait for them. Elsewhere: nothing.
void bound_steps(ExecutionContext& context);

}  // namespace redquel::executor
