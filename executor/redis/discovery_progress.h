#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sql/discovery/proposal.h"

namespace redquel::executor {

/// How far the discovery of the tables of a Redis has come. Any thread may call.
class DiscoveryProgress {
 public:
  using Clock = std::chrono::steady_clock;
  /// kNone: there is no discovery. Each other state follows the one before it; the last three are ends.
  enum class State { kNone, kListing, kReading, kDefining, kDone, kStopped, kFailed };

  struct Figures {
    State state = State::kNone;
    std::size_t walked = 0, all = 0;  // keys
    std::size_t tables = 0;           // that were made
    Clock::time_point begun = {}, ended = {};
    Clock::time_point listing = {};  // when the listing began that is on its way: first some keys are listed, then all
    std::string error;

    bool is_running() const { return state != State::kNone && state < State::kDone; }
  };
  using LeftOut = std::shared_ptr<const std::vector<sql::LeftOut>>;

  void begin();
  void enter(State state);
  void report(std::size_t walked, std::size_t all);
  void note_tables(std::size_t tables, std::vector<sql::LeftOut> left_out);
  void end(State state, std::string error = {});
  Figures figures() const;
  /// Returns the keys that have become no table; never null.
  LeftOut left_out() const;

 private:
  mutable std::mutex mutex_;
  Figures figures_;
  LeftOut left_out_ = std::make_shared<std::vector<sql::LeftOut>>();
};

/// Returns 1234567 as `1,234,567`.
std::string count_text(std::size_t number);
/// Returns `70 s` or `12 min`.
std::string duration_text(double seconds);
/// Returns about how long listing the other keys takes; nullopt in the first second and once all are listed.
std::optional<std::chrono::duration<double>> time_left(const DiscoveryProgress::Figures& figures, DiscoveryProgress::Clock::time_point now);
/// Returns `412,000 of 1,930,000 keys, 14 tables, about 70 s left`.
std::string progress_text(const DiscoveryProgress::Figures& figures, DiscoveryProgress::Clock::time_point now);

}  // namespace redquel::executor
