#include "executor/runtime/side_by_side.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

namespace redquel::executor {

namespace asio = boost::asio;

asio::awaitable<void> run_side_by_side(std::vector<asio::awaitable<void>> steps) {
  if (steps.empty()) co_return;
  if (steps.size() == 1) {
    co_await std::move(steps.front());
    co_return;
  }
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto started = [&](asio::awaitable<void> step) { return asio::co_spawn(executor, std::move(step), asio::deferred); };
  std::vector<decltype(started(std::move(steps.front())))> operations;
  operations.reserve(steps.size());
  for (asio::awaitable<void>& step : steps) operations.push_back(started(std::move(step)));
  auto group = asio::experimental::make_parallel_group(std::move(operations));
  const auto [order, failures] = co_await group.async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace redquel::executor
