#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <atomic>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace redquel::executor {

namespace asio = boost::asio;

/// The thread for work that would hold up an event loop for milliseconds: hashes of passwords, names of operating-system users.
class BackgroundThread {
 public:
  /// One piece of work at a time, and 64 that wait.
  static constexpr std::size_t kMostWaiting = 64;

  /// The process's own; it starts at the first call.
  static BackgroundThread& instance();

  /// Runs `work` there and returns what it returns or throws. Throws 53300 if too much work waits. Give it a
  /// named closure if that holds more than numbers: g++ 12 destroys a temporary one of a co_await expression twice.
  template <class Work>
  asio::awaitable<std::invoke_result_t<Work>> run(Work work) {
    const Ticket ticket(waiting_);
    auto body = [](Work task) -> asio::awaitable<std::invoke_result_t<Work>> { co_return task(); };
    auto task = asio::co_spawn(pool_, body(std::move(work)), asio::use_awaitable);
    co_return co_await std::move(task);
  }

 private:
  class Ticket {
   public:
    explicit Ticket(std::atomic<std::size_t>& waiting);
    ~Ticket() { --waiting_; }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

   private:
    std::atomic<std::size_t>& waiting_;
  };

  std::atomic<std::size_t> waiting_{0};
  asio::thread_pool pool_{1};
};

}  // namespace redquel::executor
