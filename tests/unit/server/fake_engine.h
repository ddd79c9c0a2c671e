#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "server/engine_source.h"

namespace redquel::server {

/// The activity of a server's fake engines, read by the test's thread.
struct FakeCounters {
  std::atomic<int> prepared{0};
  std::atomic<int> running{0};  // executions alive
  std::atomic<int> pulled{0};   // batches
  std::atomic<int> cancelled{0};
};

/// Engines that know a few calls and look only at the statement's text:
///   rows(n)        n rows of int4, ten to a batch
///   wide(n, size)  n rows of one text of that size, one to a batch
///   echo           the parameters, as one row
///   wait           nothing until cancelled
///   divide         22012 when run
///   wrong          42703 at the word, when prepared
///   notice         a NOTICE, and one row
/// Anything that is no SELECT writes: INSERT 0 1, with rows(n) as its RETURNING.
EngineSourceFactory fake_engines(std::shared_ptr<FakeCounters> counters);

}  // namespace redquel::server
