#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace redquel::executor {

namespace asio = boost::asio;

/// A thread for work that would hold up an event loop for milliseconds.
class BackgroundThread {
 public:
  /// One piece of work at a time, and 64 that wait.
  static constexpr std::size_t kMostWaiting = 64;

  /// Hashes passwords and looks up operating-system users. Starts at the first call.
  static BackgroundThread& instance();
  /// Parses long statements. Starts at the first call.
  static BackgroundThread& parser();

  /// Runs `work` there and returns what it returns or throws. Throws 53300 if too much work waits. Give it a
  /// named closure if that holds more than numbers: g++ 12 destroys a temporary one of a co_await expression twice.
  template <class Work>
  asio::awaitable<std::invoke_result_t<Work>> run(Work work) {
    const Ticket ticket(waiting_);
    auto body = [](Work task) -> asio::awaitable<std::invoke_result_t<Work>> { co_return task(); };
    auto task = asio::co_spawn(pool_, body(std::move(work)), asio::use_awaitable);
    co_return co_await std::move(task);
  }

  /// Like run(), but a cancelled caller leaves at once: the work then runs to its end, and its result is destroyed on the caller's event loop.
  template <class Work>
  asio::awaitable<std::invoke_result_t<Work>> run_cancellable(Work work) {
    using Result = std::invoke_result_t<Work>;
    struct Outcome {
      std::optional<Result> result;
      std::exception_ptr failure;
    };
    struct Waiting {  // belongs to the caller's thread
      explicit Waiting(const asio::any_io_executor& executor) : is_done(executor, asio::steady_timer::time_point::max()) {}
      std::optional<Outcome> outcome;
      asio::steady_timer is_done;
    };
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto waiting = std::make_shared<Waiting>(executor);
    auto ticket = std::make_unique<Ticket>(waiting_);
    // The event loop lives until the work is done.
    auto loop = asio::prefer(executor, asio::execution::outstanding_work.tracked);
    asio::post(pool_, [waiting, loop = std::move(loop), ticket = std::move(ticket), task = std::move(work)]() mutable {
      Outcome outcome;
      try {
        outcome.result = task();
      } catch (...) {
        outcome.failure = std::current_exception();
      }
      ticket.reset();
      asio::post(loop, [waiting = std::move(waiting), outcome = std::move(outcome)]() mutable {
        waiting->outcome = std::move(outcome);
        waiting->is_done.cancel();
      });
    });
    boost::system::error_code ended;
    while (!waiting->outcome) {
      const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
      if (state.cancelled() != asio::cancellation_type::none) throw boost::system::system_error(asio::error::operation_aborted);
      co_await waiting->is_done.async_wait(asio::redirect_error(asio::use_awaitable, ended));
    }
    if (waiting->outcome->failure) std::rethrow_exception(waiting->outcome->failure);
    co_return *std::move(waiting->outcome->result);
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
