// Coroutines of several sessions on one thread, each with the user-made types of its statement.

#include "executor/runtime/known_types_executor.h"

#include <gtest/gtest.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <vector>

#include "executor/runtime/computation.h"
#include "executor/runtime/side_by_side.h"
#include "executor/runtime/turn_queue.h"
#include "executor/runtime/worker_pool.h"
#include "sql/computation_pause.h"
#include "sql/interrupts.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

constexpr sql::Oid kMood = 20000001;

sql::UserTypesPtr types_with(const std::string& label) {
  auto type = std::make_shared<sql::UserType>();
  type->oid = kMood;
  type->array = kMood + 1;
  type->name = "mood";
  type->labels.push_back({1, label, 1});
  auto types = std::make_shared<sql::UserTypes>();
  types->add({type});
  return types;
}
/// The label of the type that the running computation knows.
std::string known_label() {
  const sql::UserType* type = sql::find_user_type(kMood);
  return type == nullptr ? "none" : type->labels[0].name;
}

class KnownTypesExecutorTest : public ::testing::Test {
 protected:
  void spawn(std::shared_ptr<sql::KnownTypes> known, asio::awaitable<void> work) {
    asio::co_spawn(KnownTypesExecutor(loop_.get_executor(), std::move(known)), std::move(work), [this](std::exception_ptr failure) {
      EXPECT_EQ(failure, nullptr);
      ++ended_;
    });
  }
  std::shared_ptr<sql::KnownTypes> first_ = std::make_shared<sql::KnownTypes>(types_with("sad"));
  std::shared_ptr<sql::KnownTypes> second_ = std::make_shared<sql::KnownTypes>(types_with("blue"));
  asio::io_context loop_;
  std::size_t ended_ = 0;
};

TEST_F(KnownTypesExecutorTest, CoroutinesThatGoOnInTurnsKnowTheirOwnTypes) {
  const auto wait_in_all_ways = [](std::string label) -> asio::awaitable<void> {
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(known_label(), label);
      co_await asio::post(asio::use_awaitable);
      EXPECT_EQ(known_label(), label);
      asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(1));
      co_await timer.async_wait(asio::use_awaitable);
      EXPECT_EQ(known_label(), label);
      co_await TurnQueue::wait();
      EXPECT_EQ(known_label(), label);
      std::vector<asio::awaitable<void>> steps;
      for (int step = 0; step < 2; ++step) {
        steps.push_back([](std::string expected) -> asio::awaitable<void> {
          co_await asio::post(asio::use_awaitable);
          EXPECT_EQ(known_label(), expected);
        }(label));
      }
      co_await run_side_by_side(std::move(steps));
      EXPECT_EQ(known_label(), label);
    }
  };
  spawn(first_, wait_in_all_ways("sad"));
  spawn(second_, wait_in_all_ways("blue"));
  asio::co_spawn(loop_, wait_in_all_ways("none"), asio::detached);
  loop_.run();
  EXPECT_EQ(ended_, 2u);
  EXPECT_EQ(known_label(), "none");
}

TEST_F(KnownTypesExecutorTest, ACoroutineKnowsTheTypesOfTheSnapshotThatItsStatementTookLast) {
  spawn(first_, [](std::shared_ptr<sql::KnownTypes> known) -> asio::awaitable<void> {
    known->types = types_with("glad");
    EXPECT_EQ(known_label(), "glad");
    co_await asio::post(asio::use_awaitable);
    EXPECT_EQ(known_label(), "glad");
  }(first_));
  loop_.run();
  EXPECT_EQ(ended_, 1u);
}

TEST_F(KnownTypesExecutorTest, WorkWithOtherTypesLeavesThoseOfTheSession) {
  spawn(first_, [](std::shared_ptr<const sql::KnownTypes> other) -> asio::awaitable<void> {
    const auto look = []() -> asio::awaitable<std::string> {
      co_await asio::post(asio::use_awaitable);
      co_return known_label();
    };
    auto work = look();
    const std::string within = co_await with_known_types(std::move(other), std::move(work));
    EXPECT_EQ(within, "blue");
    EXPECT_EQ(known_label(), "sad");
    co_await asio::post(asio::use_awaitable);
    EXPECT_EQ(known_label(), "sad");
  }(second_));
  loop_.run();
  EXPECT_EQ(ended_, 1u);
}

TEST_F(KnownTypesExecutorTest, CoroutinesThatOutliveTheSessionKnowNoTypes) {
  spawn(first_, []() -> asio::awaitable<void> {
    const asio::any_io_executor bare = without_known_types(co_await asio::this_coro::executor);
    co_await asio::co_spawn(bare, []() -> asio::awaitable<void> {
      co_await asio::post(asio::use_awaitable);
      EXPECT_EQ(known_label(), "none");
    }(), asio::use_awaitable);
    EXPECT_EQ(known_label(), "sad");
  }());
  loop_.run();
  EXPECT_EQ(ended_, 1u);
}

TEST_F(KnownTypesExecutorTest, ComputationsInTurnsKeepTheirScopes) {
  const auto compute = [](std::string label) -> asio::awaitable<void> {
    auto work = [&] {
      std::string seen;
      for (int turn = 0; turn < 3; ++turn) {
        seen += known_label() + " ";
        const sql::KnownTypesScope within(types_with(label + "!"));
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        sql::check_interrupts();
        seen += known_label() + " ";
      }
      return seen;
    };
    const std::string seen = co_await compute_in_turns(std::move(work));
    EXPECT_EQ(seen, label + " " + label + "! " + label + " " + label + "! " + label + " " + label + "! ");
  };
  spawn(first_, compute("sad"));
  spawn(second_, compute("blue"));
  loop_.run();
  EXPECT_EQ(ended_, 2u);
}

TEST_F(KnownTypesExecutorTest, ThreadsThatComputeForAStatementKnowItsTypes) {
  struct Look final : SharedWork {
    bool step(std::size_t worker) override {
      labels.at(worker) = known_label();
      return false;
    }
    std::vector<std::string> labels = std::vector<std::string>(2);
  };
  WorkerPool pool(2);
  Look look;
  spawn(first_, [](WorkerPool& of, Look& work) -> asio::awaitable<void> {
    const std::unique_ptr<WorkerPool::Lease> lease = of.take();
    co_await lease->run(work);
  }(pool, look));
  loop_.run();
  EXPECT_EQ(look.labels, std::vector<std::string>(2, "sad"));
}

}  // namespace
}  // namespace redquel::executor
