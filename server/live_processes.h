#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redquel::server {

/// The process ids of all sessions of all threads. Any thread may ask; who finds no place is not listed.
class LiveProcesses {
 public:
  explicit LiveProcesses(std::size_t places) : places_(places) {}

  void add(std::int32_t process) {
    for (std::atomic<std::int32_t>& place : places_) {
      std::int32_t none = 0;
      if (place.load(std::memory_order_relaxed) == 0 && place.compare_exchange_strong(none, process)) return;
    }
  }
  void remove(std::int32_t process) {
    for (std::atomic<std::int32_t>& place : places_) {
      std::int32_t expected = process;
      if (place.load(std::memory_order_relaxed) == process && place.compare_exchange_strong(expected, 0)) return;
    }
  }
  bool contains(std::int32_t process) const {
    return process > 0 && std::ranges::any_of(places_, [process](const auto& place) { return place.load() == process; });
  }

 private:
  std::vector<std::atomic<std::int32_t>> places_;  // 0: free
};

}  // namespace redquel::server
