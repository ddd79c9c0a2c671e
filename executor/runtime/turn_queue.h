#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <deque>
#include <functional>

namespace redquel::executor {

namespace asio = boost::asio;

/// Long computations of one event loop that wait for their next turn, in the order in which they came. Before each turn the loop runs the
/// other handlers that are ready, for up to a millisecond. A session with little to do waits for one turn, however many computations there
/// are. Turns are short while other handlers have work, so that this wait is short.
class TurnQueue final : public asio::execution_context::service {
 public:
  using Clock = std::chrono::steady_clock;
  using key_type = TurnQueue;
  static asio::execution_context::id id;

  explicit TurnQueue(asio::execution_context& context) : asio::execution_context::service(context) {}

  /// Returns when it is the coroutine's turn: true if other handlers of the loop had something to do before it.
  static asio::awaitable<bool> wait();

  /// Returns the time that a computation of this thread may take for one turn.
  static Clock::duration turn_length() { return turn_length_; }
  /// Returns the beginning of the handler that this thread runs. Older, if the handler does not run between computations.
  static Clock::time_point handler_began() { return handler_began_; }

 private:
  void shutdown() override { waiting_.clear(); }
  void add(asio::io_context& loop, std::function<void()> resume);
  void schedule(asio::io_context& loop);
  void run_others(asio::io_context& loop);
  void run_one(asio::io_context& loop);

  static constexpr Clock::duration kLongest = std::chrono::milliseconds(1);

  std::deque<std::function<void()>> waiting_;
  bool is_scheduled_ = false, others_ran_ = false;
  Clock::time_point others_last_ran_;
  static inline constinit thread_local Clock::duration turn_length_ = kLongest;
  static inline constinit thread_local Clock::time_point handler_began_;
};

}  // namespace redquel::executor
