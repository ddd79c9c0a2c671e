#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <exception>
#include <optional>

namespace redquel::executor {

/// Runs the event loop until this coroutine has ended; gives its result or throws its exception. Other coroutines of
/// the loop go on meanwhile.
template <typename T>
T run_coroutine(boost::asio::io_context& loop, boost::asio::awaitable<T> coroutine) {
  std::optional<T> result;
  std::exception_ptr failure;
  bool done = false;
  boost::asio::co_spawn(loop, std::move(coroutine), [&](std::exception_ptr thrown, T value) {
    failure = thrown;
    if (!thrown) result.emplace(std::move(value));
    done = true;
  });
  loop.restart();
  while (!done && loop.run_one() > 0) {
  }
  if (failure) std::rethrow_exception(failure);
  return std::move(result.value());
}

/// Runs the event loop until the condition holds; false after a minute.
template <typename Condition>
bool run_until(boost::asio::io_context& loop, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    loop.restart();
    loop.run_one_for(std::chrono::milliseconds(10));
  }
  return true;
}

inline void run_coroutine(boost::asio::io_context& loop, boost::asio::awaitable<void> coroutine) {
  std::exception_ptr failure;
  bool done = false;
  boost::asio::co_spawn(loop, std::move(coroutine), [&](std::exception_ptr thrown) {
    failure = thrown;
    done = true;
  });
  loop.restart();
  while (!done && loop.run_one() > 0) {
  }
  if (failure) std::rethrow_exception(failure);
  if (!done) throw std::logic_error("the coroutine waits for what never comes");
}

}  // namespace redquel::executor
