#include "executor/redis/redis_presence.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>

namespace redquel::executor {

namespace {

std::mutex presences_mutex;
struct Presence {
  bool is_known = false;                                             // it has answered once
  std::optional<std::chrono::steady_clock::time_point> away_since;  // nullopt: it is there
};
std::map<std::string, Presence> presences;  // by address

}  // namespace

void note_redis_gone(const std::string& address, std::string_view reason) {
  const std::lock_guard lock(presences_mutex);
  Presence& presence = presences[address];
  if (!presence.is_known || presence.away_since) return;  // a start that fails has an error of its own
  presence.away_since = std::chrono::steady_clock::now();
  spdlog::warn("Redis at {} is gone: {}", address, reason);
}

void note_redis_there(const std::string& address) {
  const std::lock_guard lock(presences_mutex);
  Presence& presence = presences[address];
  presence.is_known = true;
  if (!presence.away_since) return;
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - *presence.away_since;
  presence.away_since.reset();
  spdlog::info("Redis at {} is back after {:.1f} s", address, time.count());
}

}  // namespace redquel::executor
