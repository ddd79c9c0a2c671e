#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace redquel::sql {

/// A number that one thread adds to and any thread reads. Adding is a plain load and store.
class Count {
 public:
  void add(std::uint64_t number = 1) { number_.store(number_.load(std::memory_order_relaxed) + number, std::memory_order_relaxed); }
  void set(std::uint64_t number) { number_.store(number, std::memory_order_relaxed); }
  std::uint64_t get() const { return number_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> number_ = 0;
};

/// A histogram of durations. One thread adds, any thread reads.
class DurationHistogram {
 public:
  /// Upper bounds of the buckets in nanoseconds: 0.1 ms to 30 s; longer durations are in the last bucket.
  static constexpr std::array<std::uint64_t, 17> kBounds = {
      100'000,     250'000,     500'000,       1'000'000,     2'500'000,     5'000'000,      10'000'000,     25'000'000,    50'000'000,
      100'000'000, 250'000'000, 500'000'000, 1'000'000'000, 2'500'000'000, 5'000'000'000, 10'000'000'000, 30'000'000'000};

  void note(std::uint64_t nanoseconds) {
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && nanoseconds > kBounds[bucket]) ++bucket;
    buckets_[bucket].add();
    sum_.add(nanoseconds);
  }
  std::uint64_t bucket(std::size_t number) const { return buckets_[number].get(); }
  std::uint64_t sum() const { return sum_.get(); }

 private:
  std::array<Count, kBounds.size() + 1> buckets_;
  Count sum_;
};

}  // namespace redquel::sql
