#include "executor/redis/redis_presence.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <map>
#include <mutex>

namespace redquel::executor {

namespace {

std::mutex absences_mutex;
std::map<std::string, std::chrono::steady_clock::time_point> absences;  // since when, by address

}  // namespace

void note_redis_gone(const std::string& address, std::string_view reason) {
  const std::lock_guard lock(absences_mutex);
  if (absences.emplace(address, std::chrono::steady_clock::now()).second) spdlog::warn("Redis at {} is gone: {}", address, reason);
}

void note_redis_there(const std::string& address) {
  const std::lock_guard lock(absences_mutex);
  const auto found = absences.find(address);
  if (found == absences.end()) return;
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - found->second;
  spdlog::info("Redis at {} is back after {:.1f} s", address, time.count());
  absences.erase(found);
}

}  // namespace redquel::executor
