#include "executor/redis/redis_share.h"

#include <algorithm>
#include <cstdint>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace redquel::executor {

namespace {

/// Redis that stands still for another client's command is not paid for with minutes.
constexpr std::chrono::seconds kMostPause{1};
constexpr std::chrono::milliseconds kMostLatencyAge{10'000}, kFirstLatencyAge{100};

}  // namespace

asio::awaitable<void> RedisShare::wait() {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (Clock::time_point begin = next(); Clock::now() < begin; begin = next()) {
    timer.expires_at(begin);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

/// A quarter of the latest reads took less. Before they are measured it is the cost of a key, whose memory no cache holds.
double RedisShare::usual_cost(Clock::duration latency) const {
  constexpr double kUnmeasured = 1500;
  if (read_count_ < kReads) return kUnmeasured;
  std::array<double, kReads> costs;
  std::ranges::transform(reads_, costs.begin(), [&](const Read& read) {
    return static_cast<double>(std::chrono::nanoseconds(std::max(read.taken - latency, Clock::duration{})).count()) / read.elements;
  });
  std::ranges::nth_element(costs, costs.begin() + kReads / 4);
  return costs[kReads / 4];
}

RedisShare::Clock::duration RedisShare::time_of_redis(const Read& read) const {
  const Clock::duration latency = latency_.value_or(Clock::duration{}), most = std::max(read.taken - latency, Clock::duration{});
  if (read_count_ < kReads) return most;
  const std::chrono::nanoseconds usual(static_cast<std::int64_t>(usual_cost(latency) * read.elements));
  return std::min<Clock::duration>(most, usual);
}

void RedisShare::note(Clock::time_point now, Clock::duration taken, std::size_t keys, std::size_t elements) {
  const std::lock_guard lock(mutex_);
  const Read read{taken, static_cast<double>(std::max<std::size_t>(elements, 1))};
  reads_[read_count_++ % kReads] = read;
  const Clock::duration of_redis = time_of_redis(read);
  const auto percent = static_cast<Clock::rep>(limits_.percent);
  // The read's way to Redis and back is a part of its pause.
  Clock::duration turn = std::min<Clock::duration>(of_redis * 100 / percent, of_redis + kMostPause);
  if (limits_.keys_per_second != 0) turn = std::max<Clock::duration>(turn, std::chrono::microseconds(keys * 1'000'000 / limits_.keys_per_second));
  next_ = std::max(next_, now - taken) + turn;
}

bool RedisShare::wants_latency(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return limits_.percent < 100 && (!latency_ || now - measured_ > (first_count_ < kFirsts ? kFirstLatencyAge : kMostLatencyAge));
}

void RedisShare::note_latency(Clock::time_point now, Clock::duration round_trip, Clock::duration first) {
  const std::lock_guard lock(mutex_);
  latency_ = std::min(latency_.value_or(round_trip), round_trip);
  last_latency_ = round_trip;
  firsts_[first_count_++ % kFirsts] = first;
  measured_ = now;
}

std::size_t RedisShare::step() const {
  constexpr double kWork = 1e5, kAll = 3 * kWork;  // nanoseconds
  constexpr std::size_t kLeast = 10, kMost = 1000;
  const std::lock_guard lock(mutex_);
  if (limits_.percent >= 100) return kMost;
  std::array<Clock::duration, kFirsts> firsts = firsts_;
  std::ranges::sort(firsts);
  const Clock::duration first = first_count_ < kFirsts ? latency_.value_or(Clock::duration{}) : firsts[1];  // about a quarter took less
  const double work = std::max(usual_cost(first), 1.0), all = std::max(usual_cost(latency_.value_or(Clock::duration{})), 1.0);
  return std::clamp(static_cast<std::size_t>(std::min(kWork / work, kAll / all)), kLeast, kMost);
}

RedisShare::Clock::duration RedisShare::expected(std::size_t keys, std::size_t commands) const {
  const auto number = static_cast<double>(keys);
  const auto steps = number / static_cast<double>(step()) * (commands > 1 ? 2 : 1);
  const std::lock_guard lock(mutex_);
  const double of_redis = number * usual_cost(latency_.value_or(Clock::duration{})) * static_cast<double>(commands);
  const double trips = steps * static_cast<double>(std::chrono::nanoseconds(last_latency_).count());
  double all = std::max(of_redis * 100 / static_cast<double>(limits_.percent), of_redis + trips);
  if (limits_.keys_per_second != 0) all = std::max(all, 1e9 * number / static_cast<double>(limits_.keys_per_second));
  return std::chrono::nanoseconds(static_cast<std::int64_t>(all));
}

RedisShare::Clock::time_point RedisShare::next() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

}  // namespace redquel::executor
