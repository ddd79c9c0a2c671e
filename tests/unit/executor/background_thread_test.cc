#include "executor/roles/background_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <future>
#include <string>

#include "sql/error.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

TEST(BackgroundThread, RefusesWorkBeyondItsQueue) {
  asio::io_context loop;
  BackgroundThread thread;
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::size_t finished = 0;
  const auto hold = [&]() -> asio::awaitable<void> {
    // It has a name because g++ 12 destroys such a temporary of a co_await expression twice.
    auto work = [open] {
      open.wait();
      return 7;
    };
    const int answer = co_await thread.run(std::move(work));
    finished += answer == 7 ? 1 : 0;
  };
  constexpr std::size_t kTaken = BackgroundThread::kMostWaiting + 1;  // one runs, the others wait
  for (std::size_t i = 0; i < kTaken; ++i) asio::co_spawn(loop, hold(), asio::detached);
  loop.poll();
  try {
    run_coroutine(loop, hold());
    FAIL() << "no error";
  } catch (const sql::SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "53300");
    EXPECT_EQ(error.message(), "too many logins or long statements wait for their turn");
  }
  EXPECT_EQ(finished, 0u);
  gate.set_value();
  ASSERT_TRUE(run_until(loop, [&] { return finished == kTaken; }));
  run_coroutine(loop, hold());  // there is room again
  EXPECT_EQ(finished, kTaken + 1);
}

TEST(BackgroundThread, FailedWorkLeavesItsPlace) {
  asio::io_context loop;
  BackgroundThread thread;
  const auto fail = [&]() -> asio::awaitable<void> {
    co_await thread.run([]() -> int { throw sql::SqlError("28P01", "wrong"); });
  };
  for (std::size_t i = 0; i < 2 * BackgroundThread::kMostWaiting; ++i) EXPECT_THROW(run_coroutine(loop, fail()), sql::SqlError);
}

TEST(BackgroundThread, ACancelledCallerLeavesAtOnce) {
  asio::io_context loop;
  BackgroundThread thread;
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::atomic<bool> has_run = false;
  const auto hold = [&]() -> asio::awaitable<void> {
    auto work = [open, &has_run] {
      open.wait();
      has_run = true;
      return 7;
    };
    co_await thread.run_cancellable(std::move(work));
  };
  asio::cancellation_signal signal;
  std::exception_ptr failure;
  bool is_done = false;
  asio::co_spawn(loop, hold(), asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr thrown) {
                   failure = thrown;
                   is_done = true;
                 }));
  loop.poll();
  signal.emit(asio::cancellation_type::terminal);
  ASSERT_TRUE(run_until(loop, [&] { return is_done; }));
  EXPECT_THROW(std::rethrow_exception(failure), boost::system::system_error);
  EXPECT_FALSE(has_run);
  gate.set_value();
  int answer = 0;
  const auto again = [&]() -> asio::awaitable<void> {
    auto work = [] { return 8; };
    answer = co_await thread.run_cancellable(std::move(work));
  };
  run_coroutine(loop, again());
  EXPECT_EQ(answer, 8);
  EXPECT_TRUE(has_run);
}

}  // namespace
}  // namespace redquel::executor
