#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace redquel::executor {

/// How far the discovery of the tables of a Redis has come. Any thread may call.
class DiscoveryProgress {
 public:
  using Clock = std::chrono::steady_clock;

  struct Figures {
    bool is_running = false;
    std::size_t walked = 0, all = 0;  // keys
    std::size_t tables = 0;           // that were made
    Clock::time_point begun = {};
  };

  void begin();
  void report(std::size_t walked, std::size_t all);
  void note_tables(std::size_t tables);
  void end();
  Figures figures() const;

 private:
  mutable std::mutex mutex_;
  Figures figures_;
};

/// Returns `412,000 of 1,930,000 keys, 14 tables, about 70 s left`. The estimate is left out in the first second and at the end.
std::string progress_text(const DiscoveryProgress::Figures& figures, DiscoveryProgress::Clock::time_point now);

}  // namespace redquel::executor
