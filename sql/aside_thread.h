#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace redquel::sql {

/// A thread of the process for work that nothing can interrupt. The computation that waits for the work can be interrupted, and pauses.
/// Thread-safe. The threads are never joined: work that is too long does not hold up the end of the process.
class AsideThread {
 public:
  /// Returns the thread that has the least to do. Starts one if all have work and there are fewer than eight.
  static std::shared_ptr<AsideThread> least_busy();

  /// Returns true in such a thread.
  static bool is_current();

  /// Runs `work` in the thread and waits for its end. Throws what the work throws. If an interrupt ends the wait, it throws that, and the work
  /// goes on: it owns all that it uses.
  void run(std::function<void()> work);
  /// Runs `work` in the thread, behind what it has. The work throws nothing.
  void post(std::function<void()> work);

 private:
  AsideThread() = default;
  void serve();
  std::size_t tasks() const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool is_working_ = false;
};

}  // namespace redquel::sql
