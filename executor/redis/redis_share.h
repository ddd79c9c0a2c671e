#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

namespace redquel::executor {

namespace asio = boost::asio;

struct RedisShareLimits {
  std::size_t percent = 100;        // of Redis's time
  std::size_t keys_per_second = 0;  // that SCAN looks at; 0: no limit
};

/// The pace of the bulk reads of all threads of a process that only looks at Redis. A pause follows each read, as long as the limits ask for.
class RedisShare {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RedisShare(RedisShareLimits limits) : limits_(limits) {}

  /// Waits until the next read may be sent. Cancellation ends the wait.
  asio::awaitable<void> wait();
  /// Counts a read that has ended at `now` and has `taken` a time; its scans looked at `keys`, and it at about `elements` in all. A read that
  /// took longer for an element than a quarter of the latest reads has waited for something else than Redis: the processor, other clients.
  void note(Clock::time_point now, Clock::duration taken, std::size_t keys, std::size_t elements);
  /// Returns true if the time of a round trip that costs Redis nothing is not known yet, or was measured long ago.
  bool wants_latency(Clock::time_point now) const;
  /// Takes the time of such a round trip, and of one that followed a pause: `first`, which is longer, because processors and caches have
  /// turned to other work. The least round trip is no time of Redis.
  void note_latency(Clock::time_point now, Clock::duration round_trip, Clock::duration first);
  /// Returns the number of keys or elements that one step of a bulk read looks at: as many as hold Redis for about 100 microseconds longer than
  /// a command without work that follows a pause, and for at most 300 in all. At a share of a tenth, a tenth of the commands that others send at
  /// given times meet a step, so its length is their 99th percentile; shorter ones cost a turn of Redis's event loop for fewer keys.
  std::size_t step() const;
  /// Returns about how long a scan of so many keys takes, of which each costs as much as `commands` commands.
  Clock::duration expected(std::size_t keys, std::size_t commands) const;
  /// Returns the time from which on the next read may be sent.
  Clock::time_point next() const;

 private:
  struct Read {
    Clock::duration taken{};
    double elements = 1;
  };

  Clock::duration time_of_redis(const Read& read) const;
  /// Returns the usual cost of an element in nanoseconds, where a round trip takes `latency`.
  double usual_cost(Clock::duration latency) const;

  const RedisShareLimits limits_;
  mutable std::mutex mutex_;
  Clock::time_point next_{}, measured_{};
  std::optional<Clock::duration> latency_;  // the least
  Clock::duration last_latency_{};
  static constexpr std::size_t kReads = 32, kFirsts = 5;
  std::array<Read, kReads> reads_{};  // the latest ones
  std::size_t read_count_ = 0;
  std::array<Clock::duration, kFirsts> firsts_{};  // the latest round trips that followed a pause
  std::size_t first_count_ = 0;
};

}  // namespace redquel::executor
