#include "executor/redis/redis_share.h"

#include <algorithm>
#include <cstdint>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <span>
#include <vector>

namespace redquel::executor {

namespace {

/// Redis that stands still for another client's command is not paid for with minutes.
constexpr std::chrono::seconds kMostPause{1};
constexpr std::chrono::seconds kMostLatencyAge{10};

/// Returns the usual cost of an element in nanoseconds: a quarter of the latest reads, of which `reads` are measured in all, took less. Before that
/// the cost of a key, whose memory no cache holds.
double usual_cost(std::span<const double> costs, std::size_t reads) {
  constexpr double kUnmeasured = 1500;
  if (reads < costs.size()) return kUnmeasured;
  std::vector<double> sorted(costs.begin(), costs.end());
  const auto quarter = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 4);
  std::ranges::nth_element(sorted, quarter);
  return *quarter;
}

}  // namespace

asio::awaitable<void> RedisShare::wait() {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (Clock::time_point begin = next(); Clock::now() < begin; begin = next()) {
    timer.expires_at(begin);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

RedisShare::Clock::duration RedisShare::time_of_redis(Clock::duration taken, std::size_t elements) {
  const Clock::duration most = std::max(taken - latency_.value_or(Clock::duration{}), Clock::duration{});
  const auto number = static_cast<double>(std::max<std::size_t>(elements, 1));
  costs_[reads_++ % kReads] = static_cast<double>(std::chrono::nanoseconds(most).count()) / number;
  if (reads_ < kReads) return most;
  const std::chrono::nanoseconds usual(static_cast<std::int64_t>(usual_cost(costs_, reads_) * number));
  return std::min<Clock::duration>(most, usual);
}

void RedisShare::note(Clock::time_point now, Clock::duration taken, std::size_t keys, std::size_t elements) {
  const std::lock_guard lock(mutex_);
  const Clock::duration of_redis = time_of_redis(taken, elements);
  const auto percent = static_cast<Clock::rep>(limits_.percent);
  // The read's way to Redis and back is a part of its pause.
  Clock::duration turn = std::min<Clock::duration>(of_redis * 100 / percent, of_redis + kMostPause);
  if (limits_.keys_per_second != 0) turn = std::max<Clock::duration>(turn, std::chrono::microseconds(keys * 1'000'000 / limits_.keys_per_second));
  next_ = std::max(next_, now - taken) + turn;
}

bool RedisShare::wants_latency(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return limits_.percent < 100 && (!latency_ || now - measured_ > kMostLatencyAge);
}

void RedisShare::note_latency(Clock::time_point now, Clock::duration round_trip) {
  const std::lock_guard lock(mutex_);
  latency_ = std::min(latency_.value_or(round_trip), round_trip);
  last_latency_ = round_trip;
  measured_ = now;
}

std::size_t RedisShare::step() const {
  constexpr double kOfRedis = 1e5;  // nanoseconds
  constexpr std::size_t kLeast = 10, kMost = 1000;
  const std::lock_guard lock(mutex_);
  if (limits_.percent >= 100) return kMost;
  return std::clamp(static_cast<std::size_t>(kOfRedis / std::max(usual_cost(costs_, reads_), 1.0)), kLeast, kMost);
}

RedisShare::Clock::duration RedisShare::expected(std::size_t keys, std::size_t commands) const {
  const auto number = static_cast<double>(keys);
  const auto steps = number / static_cast<double>(step()) * (commands > 1 ? 2 : 1);
  const std::lock_guard lock(mutex_);
  const double of_redis = number * usual_cost(costs_, reads_) * static_cast<double>(commands);
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
