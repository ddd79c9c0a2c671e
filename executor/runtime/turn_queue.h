#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>

namespace redquel::executor {

namespace asio = boost::asio;

/// Long computations of one event loop that wait for their next turn, in the order in which they came. Before each turn the loop runs the
/// other handlers that are ready, for as long as a turn lasts: a session with little to do waits for one turn, however many computations
/// there are.
class TurnQueue final : public asio::execution_context::service {
 public:
  using key_type = TurnQueue;
  static asio::execution_context::id id;

  explicit TurnQueue(asio::execution_context& context) : asio::execution_context::service(context) {}

  /// Returns when it is the coroutine's turn: true if other handlers of the loop had something to do before it.
  static asio::awaitable<bool> wait();

 private:
  void shutdown() override { waiting_.clear(); }
  void add(asio::io_context& loop, std::function<void()> resume);
  void schedule(asio::io_context& loop);
  void run_one(asio::io_context& loop);

  std::deque<std::function<void()>> waiting_;
  bool is_scheduled_ = false, others_ran_ = false;
};

}  // namespace redquel::executor
