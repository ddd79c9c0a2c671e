#include "executor/runtime/worker_pool.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <iterator>
#include <system_error>

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
      : ended_(executor, pool.ended_event_), state_(std::make_shared<State>(pool.ended_event_, pool.thread_count_)) {
    std::vector<std::function<void()>> parts;
    for (std::size_t worker = 0; worker < pool.thread_count_; ++worker) {
      parts.emplace_back([state = state_, &work, worker, types = known_now()] {
        const sql::KnownTypesScope scope(types);
        state->work(work, worker);
      });
    }
    pool.add(std::move(parts));
  }
  ~Run() {
    state_->is_stopped = true;
    std::unique_lock lock(state_->mutex);
    state_->ended.wait(lock, [&] { return state_->running == 0; });
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Waits until no thread works any more. Throws what the work has thrown.
  asio::awaitable<void> wait() {
    std::uint64_t events = 0;  // also those of an earlier run
    while (!state_->has_ended()) co_await ended_.descriptor.async_read_some(asio::buffer(&events, sizeof events), asio::as_tuple(asio::use_awaitable));
    if (state_->failure) std::rethrow_exception(state_->failure);
  }

 private:
  /// Shared with the threads, which may leave it after the run.
  struct State {
    State(int event, std::size_t threads) : ended_event(event), running(threads) {}

    void work(SharedWork& work, std::size_t worker) {
      std::exception_ptr thrown;
      try {
        while (!is_stopped && work.step(worker)) {
        }
      } catch (...) {
        thrown = std::current_exception();
        is_stopped = true;
      }
      if (!end_part(std::move(thrown))) return;
      // The statement's thread takes the processor at once. It would wait for any mutex that this thread of low priority holds, also for that of
      // an event loop (asio::post).
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = ::write(ended_event, &one, sizeof one);
    }
    /// Returns true for the last thread.
    bool end_part(std::exception_ptr thrown) {
      const std::lock_guard lock(mutex);
      if (thrown && !failure) failure = std::move(thrown);
      if (--running > 0) return false;
      ended.notify_all();
      return true;
    }
    bool has_ended() {
      const std::lock_guard lock(mutex);
      return running == 0;
    }

    const int ended_event;
    std::atomic<bool> is_stopped = false;
    std::mutex mutex;
    std::condition_variable ended;
    std::size_t running;  // threads that have not ended their part
    std::exception_ptr failure;
  };

  /// The pool's event in the statement's event loop. Leaves it open.
  struct EndedEvent {
    EndedEvent(const asio::any_io_executor& executor, int event) : descriptor(executor, event) {}
    ~EndedEvent() { descriptor.release(); }
    EndedEvent(const EndedEvent&) = delete;
    EndedEvent& operator=(const EndedEvent&) = delete;

    asio::posix::stream_descriptor descriptor;
  };

  EndedEvent ended_;
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

WorkerPool::WorkerPool(std::size_t threads) : thread_count_(threads), ended_event_(threads > 0 ? ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1) {
  if (threads > 0 && ended_event_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

WorkerPool::~WorkerPool() {
  ready_.release(static_cast<std::ptrdiff_t>(threads_.size()));
  for (std::thread& thread : threads_) thread.join();
  if (ended_event_ >= 0) ::close(ended_event_);
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

void WorkerPool::add(std::vector<std::function<void()>> tasks) {
  const auto count = static_cast<std::ptrdiff_t>(tasks.size());
  {
    const std::lock_guard lock(mutex_);
    std::ranges::move(tasks, std::back_inserter(tasks_));
  }
  ready_.release(count);
}

std::function<void()> WorkerPool::next_task() {
  ready_.acquire();
  const std::lock_guard lock(mutex_);
  if (tasks_.empty()) return nullptr;  // the pool ends
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

void WorkerPool::work() {
  lower_priority();
  request_slice(kSharedWorkSlice);
  while (const std::function<void()> task = next_task()) task();
}

}  // namespace redquel::executor
