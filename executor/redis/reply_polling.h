#pragma once

#include <chrono>

namespace redquel::executor {

/// Decides whether a connection asks its socket for replies again and again right after a write, in place of a sleep from which the thread has to be
/// woken. That pays while Redis answers within microseconds and nothing else is to be done: the thread was idle before the write. Sans-I/O.
class ReplyPolling {
 public:
  using Clock = std::chrono::steady_clock;
  using Microseconds = std::chrono::duration<double, std::micro>;

  /// Returns true if the thread had nothing to do before now. `idle_since`: the end of the turn before. Otherwise there are several sessions, or one
  /// that does not wait: writes gather what they send.
  static bool is_idle(Clock::time_point now, Clock::time_point idle_since) { return now - idle_since >= kIdle; }

  /// Returns how long to ask, now; zero: not at all.
  Microseconds patience(Clock::time_point now, Clock::time_point idle_since) {
    if (!is_idle(now, idle_since)) return Microseconds(0);
    if (pause_ > 0) {
      --pause_;
      return Microseconds(0);
    }
    return kPatience;
  }

  /// The replies came in this time, or not while they were asked for.
  void note(bool came) {
    if (came) {
      failures_ = 0;
      return;
    }
    if (++failures_ < kMostFailures) return;
    failures_ = kMostFailures - 1;  // one more after the pause ends the next try
    pause_ = kPause;
  }

 private:
  /// Between an answer and the next statement of a client that waits for each there is the time in which the client is woken.
  static constexpr Microseconds kIdle{8};
  static constexpr Microseconds kPatience{50};
  static constexpr int kMostFailures = 4;
  static constexpr int kPause = 500;  // writes

  int failures_ = 0, pause_ = 0;
};

}  // namespace redquel::executor
