#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "server/statistics/server_counts.h"
#include "sql/memory_account.h"

namespace redquel::server {

/// Compares the memory of the process with its account, on a thread of its own: no computation of a worker holds it up. Makes the largest
/// statement fail while the process is full.
class MemoryWatch {
 public:
  /// Both outlive it.
  MemoryWatch(sql::ProcessMemory& memory, ServerCounts& figures) : thread_([&](const std::stop_token& stop) { run(memory, figures, stop); }) {}

 private:
  void run(sql::ProcessMemory& memory, ServerCounts& figures, const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any pause_;
  std::jthread thread_;  // ends, and is joined, before the others are destroyed
};

}  // namespace redquel::server
