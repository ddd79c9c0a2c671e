#include "executor/runtime/computation.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <string>

#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/stack_depth.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kPauses = false;  // sanitizers know one stack for each thread
#else
constexpr bool kPauses = true;
#endif

/// Computes for so long, and checks its interrupts.
void compute(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) sql::check_interrupts();
}

TEST(Computation, OthersHaveTheirTurnMeanwhile) {
  if (!kPauses) return;
  asio::io_context loop;
  std::string order;
  const auto run = [&](char name) -> asio::awaitable<void> {
    auto work = [&order, name] {
      for (int step = 0; step < 3; ++step) {
        order += name;
        compute(std::chrono::milliseconds(20));
      }
      return 7;
    };
    const int answer = co_await compute_in_turns(std::move(work));
    EXPECT_EQ(answer, 7);
  };
  for (const char name : {'a', 'b'}) asio::co_spawn(loop, run(name), asio::detached);
  loop.run();
  EXPECT_EQ(order.size(), 6U);
  EXPECT_NE(order, "aaabbb");
}

TEST(Computation, ThrowsWhatTheFunctionThrows) {
  asio::io_context loop;
  const auto run = [&](bool handles) -> asio::awaitable<void> {
    auto work = [handles]() -> int {
      try {
        compute(std::chrono::milliseconds(5));
        throw sql::SqlError("22012", "division by zero");
      } catch (const sql::SqlError&) {
        compute(std::chrono::milliseconds(5));  // stands still while an exception is handled
        if (!handles) throw;
      }
      return 1;
    };
    co_await compute_in_turns(std::move(work));
  };
  EXPECT_THROW(run_coroutine(loop, run(false)), sql::SqlError);
  for (int i = 0; i < 5; ++i) asio::co_spawn(loop, run(true), asio::detached);
  run_coroutine(loop, run(true));
}

int depth_of(int level) {
  if (level < 0) return 0;
  sql::check_stack_depth();
  volatile char room[1000] = {};
  return depth_of(level + 1) + room[level % 1000];
}

TEST(Computation, RecursionsEndBeforeTheStack) {
  asio::io_context loop;
  const auto run = [&]() -> asio::awaitable<void> {
    auto work = [] { return depth_of(0); };
    co_await compute_in_turns(std::move(work));
  };
  EXPECT_THROW(run_coroutine(loop, run()), sql::SqlError);
  EXPECT_NO_THROW(sql::check_stack_depth());
}

TEST(Computation, OneThatIsDestroyedEndsFirst) {
  if (!kPauses) return;
  bool has_ended = false;
  {
    asio::io_context loop;
    const auto run = [](bool& ended) -> asio::awaitable<void> {
      struct Mark {
        bool& flag;
        ~Mark() { flag = true; }
      };
      auto work = [&ended] {
        const Mark mark{ended};
        compute(std::chrono::hours(1));
        return 1;
      };
      co_await compute_in_turns(std::move(work));
    };
    asio::co_spawn(loop, run(has_ended), asio::detached);
    loop.run_one();
    EXPECT_FALSE(has_ended);
  }
  EXPECT_TRUE(has_ended);
}

}  // namespace
}  // namespace redquel::executor
