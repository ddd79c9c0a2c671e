#include "executor/runtime/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {
namespace {

/// Counts pieces up to a number. `fails_at`: the piece that throws; 0: none.
class Pieces final : public SharedWork {
 public:
  Pieces(std::size_t count, std::size_t workers, std::size_t fails_at = 0) : count_(count), fails_at_(fails_at), of_workers_(workers) {}

  bool step(std::size_t worker) override {
    const std::size_t piece = ++next_;
    if (piece > count_) return false;
    if (piece == fails_at_) throw sql::SqlError(sqlstate::kDivisionByZero, "division by zero");
    ++of_workers_.at(worker);
    return true;
  }

  std::size_t done() const {
    std::size_t done = 0;
    for (const std::size_t pieces : of_workers_) done += pieces;
    return done;
  }

 private:
  const std::size_t count_, fails_at_;
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::size_t> of_workers_;
};

void run(WorkerPool& pool, SharedWork& work) {
  asio::io_context context;
  const auto lease = pool.take();
  ASSERT_TRUE(lease);
  std::future<void> done = asio::co_spawn(context, lease->run(work), asio::use_future);
  context.run();
  done.get();
}

TEST(WorkerPool, DoesAllPieces) {
  WorkerPool pool(3);
  for (std::size_t count : {0, 1, 2, 1000, 100'000}) {
    Pieces work(count, pool.workers());
    run(pool, work);
    EXPECT_EQ(work.done(), count);
  }
}

/// Notes the threads that do its pieces.
class Threads final : public SharedWork {
 public:
  bool step(std::size_t) override {
    const std::lock_guard lock(mutex_);
    threads_.insert(std::this_thread::get_id());
    return ++done_ < 1000;
  }
  const std::set<std::thread::id>& threads() const { return threads_; }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> threads_;
  std::size_t done_ = 0;
};

TEST(WorkerPool, TheStatementsThreadDoesNoPieces) {
  WorkerPool pool(2);
  EXPECT_EQ(pool.workers(), 2U);
  Threads work;
  run(pool, work);
  EXPECT_FALSE(work.threads().contains(std::this_thread::get_id()));
}

TEST(WorkerPool, WithoutThreadsTheStatementsThreadDoesAllPieces) {
  WorkerPool pool(0);
  EXPECT_EQ(pool.workers(), 1U);
  Threads work;
  run(pool, work);
  EXPECT_EQ(work.threads(), std::set{std::this_thread::get_id()});
}

TEST(WorkerPool, ThrowsWhatAPieceThrows) {
  WorkerPool pool(3);
  for (std::size_t piece : {1, 2, 500, 1000}) {
    Pieces work(1000, pool.workers(), piece);
    EXPECT_THROW(run(pool, work), sql::SqlError);
  }
  Pieces work(1000, pool.workers());
  run(pool, work);
  EXPECT_EQ(work.done(), 1000U);
}

TEST(WorkerPool, OneStatementHasTheThreads) {
  WorkerPool pool(1);
  auto lease = pool.take();
  ASSERT_TRUE(lease);
  EXPECT_FALSE(pool.take());
  lease.reset();
  EXPECT_TRUE(pool.take());
}

TEST(WorkerPool, ACancelledRunWaitsForItsThreads) {
  WorkerPool pool(3);
  Pieces work(SIZE_MAX / 2, pool.workers());
  {
    asio::io_context context;
    const auto lease = pool.take();
    asio::co_spawn(context, lease->run(work), asio::detached);
    context.run_for(std::chrono::milliseconds(20));
  }  // destroys the coroutine
  const std::size_t done = work.done();
  EXPECT_GT(done, 0U);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(work.done(), done);
}

}  // namespace
}  // namespace redquel::executor
