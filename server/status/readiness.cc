#include "server/status/readiness.h"

#include <algorithm>

namespace redquel::server {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kTick = kSecond / 4;

/// Returns true if the moment is at most so many nanoseconds ago.
bool is_recent(std::uint64_t moment, std::uint64_t limit) {
  const std::uint64_t now = steady_nanoseconds();
  return moment != 0 && (moment >= now || now - moment <= limit);
}

}  // namespace

Readiness readiness_of(const ServerCounts& counts) {
  Readiness readiness;
  readiness.is_live = std::ranges::all_of(counts.threads(), [](const auto& thread) { return is_recent(thread->last_turn.get(), 2 * kSecond); });
  readiness.redis_answers = is_recent(counts.threads().front()->redis_answered.get(), kSecond + kTick);
  if (!counts.is_accepting) readiness.reasons.push_back("starting");
  if (counts.is_draining) readiness.reasons.push_back("draining");
  if (!readiness.is_live) readiness.reasons.push_back("event loop blocked");
  if (!readiness.redis_answers) readiness.reasons.push_back("redis does not answer");
  return readiness;
}

}  // namespace redquel::server
