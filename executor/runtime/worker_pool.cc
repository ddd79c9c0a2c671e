#include "executor/runtime/worker_pool.h"

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>

#include "executor/runtime/event_loop_turn.h"
#include "executor/runtime/thread_priority.h"
#include "sql/types/user_types.h"

namespace redquel::executor {

namespace {

sql::UserTypesPtr known_now() {
  const sql::KnownTypes* const known = sql::known_types();
  return known == nullptr ? nullptr : known->types;
}

}  // namespace

/// Shared work in the pool's threads, which know the statement's types. Its destructor waits for them.
class WorkerPool::Run {
 public:
  Run(WorkerPool& pool, SharedWork& work, const asio::any_io_executor& executor)
      : timer_(executor, asio::steady_timer::time_point::max()), state_(std::make_shared<State>(executor, timer_, pool.thread_count_)) {
    for (std::size_t worker = 0; worker < pool.thread_count_; ++worker) {
      pool.add([state = state_, &work, worker, types = known_now()] {
        const sql::KnownTypesScope scope(types);
        state->work(work, worker);
      });
    }
  }
  ~Run() {
    state_->is_stopped = true;
    std::unique_lock lock(state_->mutex);
    state_->timer = nullptr;
    state_->ended.wait(lock, [&] { return state_->running == 0; });
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Waits until no thread works any more. Throws what the work has thrown.
  asio::awaitable<void> wait() {
    while (!state_->has_ended()) co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (state_->failure) std::rethrow_exception(state_->failure);
  }

 private:
  /// Shared with the threads, which may leave it after the run.
  struct State : std::enable_shared_from_this<State> {
    State(asio::any_io_executor statement, asio::steady_timer& waiting, std::size_t threads) : executor(std::move(statement)), timer(&waiting), running(threads) {}

    void work(SharedWork& work, std::size_t worker) {
      std::exception_ptr thrown;
      try {
        while (!is_stopped && work.step(worker)) {
        }
      } catch (...) {
        thrown = std::current_exception();
        is_stopped = true;
      }
      const std::lock_guard lock(mutex);
      if (thrown && !failure) failure = thrown;
      if (--running > 0) return;
      if (timer != nullptr) asio::post(executor, [self = shared_from_this()] { self->wake(); });
      ended.notify_all();
    }
    void wake() {
      const std::lock_guard lock(mutex);
      if (timer != nullptr) timer->cancel();
    }
    bool has_ended() {
      const std::lock_guard lock(mutex);
      return running == 0;
    }

    const asio::any_io_executor executor;  // of the statement's thread
    std::atomic<bool> is_stopped = false;
    std::mutex mutex;
    std::condition_variable ended;
    asio::steady_timer* timer;  // of the statement's thread, which waits by it; null: it waits no more
    std::size_t running;        // threads that have not ended their part
    std::exception_ptr failure;
  };

  asio::steady_timer timer_;
  std::shared_ptr<State> state_;
};

asio::awaitable<void> WorkerPool::Lease::run(SharedWork& work) {
  if (pool_.thread_count_ == 0) {
    EventLoopTurn turn;
    while (work.step(0)) {
      if (turn.is_over()) co_await turn.yield();
    }
    co_return;
  }
  Run run(pool_, work, co_await asio::this_coro::executor);
  co_await run.wait();
}

WorkerPool::WorkerPool(std::size_t threads) : thread_count_(threads) {}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::unique_ptr<WorkerPool::Lease> WorkerPool::take() {
  const std::lock_guard lock(mutex_);
  if (is_taken_) return nullptr;
  is_taken_ = true;
  while (threads_.size() < thread_count_) threads_.emplace_back([this] { work(); });
  return std::make_unique<Lease>(*this);
}

void WorkerPool::give_back() {
  const std::lock_guard lock(mutex_);
  is_taken_ = false;
}

void WorkerPool::add(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void WorkerPool::work() {
  lower_priority();
  request_slice(kServiceSlice);
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_stopped_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }
}

}  // namespace redquel::executor
