#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string>
#include <utility>
#include <vector>

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

TEST(TurnQueue, TurnsAreShortWhileOtherHandlersHaveWork) {
  asio::io_context loop;
  bool is_over = false;
  std::vector<TurnQueue::Clock::duration> lengths;
  const auto compute = [&]() -> asio::awaitable<void> {
    EventLoopTurn turn;
    for (int step = 0; step < 5; ++step) {
      co_await turn.yield();
      lengths.push_back(TurnQueue::turn_length());
    }
    is_over = true;
  };
  const auto lookup = [&]() -> asio::awaitable<void> {
    while (!is_over) co_await asio::post(asio::use_awaitable);
  };
  asio::co_spawn(loop, compute(), asio::detached);
  loop.run();
  const auto alone = std::exchange(lengths, {});
  is_over = false;
  asio::co_spawn(loop, compute(), asio::detached);
  asio::co_spawn(loop, lookup(), asio::detached);
  loop.restart();
  loop.run();
  EXPECT_LT(lengths.back(), alone.back());
}

TEST(TurnQueue, AHandlerBetweenComputationsHasATurnOfItsOwn) {
  asio::io_context loop;
  bool was_over = true;
  const auto lookup = [&]() -> asio::awaitable<void> {
    const EventLoopTurn turn;  // older than a turn by the time its handler runs again
    asio::steady_timer reply(loop, std::chrono::milliseconds(5));
    co_await reply.async_wait(asio::use_awaitable);
    was_over = turn.is_over();
  };
  const auto compute = []() -> asio::awaitable<void> {
    EventLoopTurn turn;
    const auto end = TurnQueue::Clock::now() + std::chrono::milliseconds(20);
    while (TurnQueue::Clock::now() < end) co_await turn.yield();
  };
  asio::co_spawn(loop, lookup(), asio::detached);
  asio::co_spawn(loop, compute(), asio::detached);
  loop.run();
  EXPECT_FALSE(was_over);
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
