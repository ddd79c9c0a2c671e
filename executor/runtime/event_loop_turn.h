#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>

#include "executor/runtime/turn_queue.h"

namespace redquel::executor {

/// The time that an operator may compute before the other sessions of the thread get their turn. A long loop asks between its steps:
///
/// if (turn_.is_over()) co_await turn_.yield();
///
/// A statement that was cancelled ends at the yield.
class EventLoopTurn {
 public:
  bool is_over() const { return Clock::now() - began_ > kLength; }
  /// Returns true if other sessions had something to do.
  boost::asio::awaitable<bool> yield() {
    const bool others_ran = co_await TurnQueue::wait();
    began_ = Clock::now();
    co_return others_ran;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kLength{1};

  Clock::time_point began_ = Clock::now();
};

}  // namespace redquel::executor
