#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>

namespace redquel::executor {

namespace asio = boost::asio;

/// Lets the coroutine wait.
inline asio::awaitable<void> rest(std::int64_t microseconds) {
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::microseconds(microseconds));
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace redquel::executor
