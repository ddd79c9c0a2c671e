#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string>

#include "executor/runtime/event_loop_turn.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

TEST(TurnQueue, ComputationsTakeTurnsInOrder) {
  asio::io_context loop;
  std::string order;
  const auto compute = [&](char name) -> asio::awaitable<void> {
    EventLoopTurn turn;
    for (int step = 0; step < 3; ++step) {
      order += name;
      co_await turn.yield();
    }
  };
  for (const char name : {'a', 'b', 'c'}) asio::co_spawn(loop, compute(name), asio::detached);
  loop.run();
  EXPECT_EQ(order, "abcabcabc");
}

TEST(TurnQueue, OtherHandlersRunBetweenTheTurns) {
  asio::io_context loop;
  std::string order;
  const auto compute = [&](char name) -> asio::awaitable<void> {
    EventLoopTurn turn;
    for (int step = 0; step < 2; ++step) {
      co_await turn.yield();
      order += name;
    }
  };
  const auto lookup = [&]() -> asio::awaitable<void> {
    for (int step = 0; step < 4; ++step) {
      co_await asio::post(asio::use_awaitable);
      order += '.';
    }
  };
  for (const char name : {'a', 'b', 'c'}) asio::co_spawn(loop, compute(name), asio::detached);
  asio::co_spawn(loop, lookup(), asio::detached);
  loop.run();
  EXPECT_EQ(std::ranges::count(order, '.'), 4);
  std::erase(order, '.');
  EXPECT_EQ(order, "abcabc");
}

TEST(TurnQueue, ALoopThatEndsDropsComputationsThatWait) {
  bool is_destroyed = false;
  {
    asio::io_context loop;
    const auto compute = [](bool& destroyed) -> asio::awaitable<void> {
      struct Mark {
        bool& flag;
        ~Mark() { flag = true; }
      } const mark{destroyed};
      EventLoopTurn turn;
      while (true) co_await turn.yield();
    };
    asio::co_spawn(loop, compute(is_destroyed), asio::detached);
    loop.run_one();
    EXPECT_FALSE(is_destroyed);
  }
  EXPECT_TRUE(is_destroyed);
}

}  // namespace
}  // namespace redquel::executor
