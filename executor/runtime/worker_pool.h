#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

namespace redquel::executor {

namespace asio = boost::asio;

/// Work of one statement that several threads do side by side, in pieces of less than a millisecond.
class SharedWork {
 public:
  virtual ~SharedWork() = default;
  /// Does a piece of the work. Returns false if no piece is left. A worker number is used by one thread at a time. Throws SqlError.
  virtual bool step(std::size_t worker) = 0;
};

/// Threads that compute for one statement at a time, while the statement's own thread serves other sessions. They have a low priority: where
/// a processor is wanted by an event loop or by Redis, these go first. Thread-safe.
class WorkerPool {
 public:
  /// None: statements compute in their own threads. Throws std::system_error without a free file descriptor.
  explicit WorkerPool(std::size_t threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  bool has_threads() const { return thread_count_ > 0; }
  /// Returns the number of threads that compute for a statement.
  std::size_t workers() const { return std::max<std::size_t>(1, thread_count_); }

  /// The pool's threads as one statement has them.
  class Lease {
   public:
    explicit Lease(WorkerPool& pool) : pool_(pool) {}
    ~Lease() { pool_.give_back(); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    /// Does the work to its end in the pool's threads. A pool without threads does it in the caller's thread, in turns. All threads have ended
    /// their part when it returns or throws, also if the statement is cancelled. Throws the exception of the work.
    asio::awaitable<void> run(SharedWork& work);

   private:
    WorkerPool& pool_;
  };
  /// Returns null if another statement has the threads.
  std::unique_ptr<Lease> take();

 private:
  class Run;
  void give_back();
  void work();
  void add(std::vector<std::function<void()>> tasks);
  /// Waits for a task. Returns null at the end of the pool.
  std::function<void()> next_task();

  const std::size_t thread_count_;
  const int ended_event_;  // eventfd: threads of the pool wake the statement that waits for them; -1: the pool has none
  std::mutex mutex_;
  bool is_taken_ = false;
  std::deque<std::function<void()>> tasks_;
  // Counts the tasks. A condition variable would let the event loop wait for threads that it has woken before (pthread_cond_broadcast).
  std::counting_semaphore<> ready_{0};
  std::vector<std::thread> threads_;  // started with the first lease
};

}  // namespace redquel::executor
