#pragma once

#include <algorithm>
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
  bool is_over() const { return Clock::now() - std::max(began_, TurnQueue::handler_began()) > TurnQueue::turn_length(); }
  /// Returns true if other sessions had something to do.
  boost::asio::awaitable<bool> yield() {
    const bool others_ran = co_await TurnQueue::wait();
    began_ = Clock::now();
    co_return others_ran;
  }

 private:
  using Clock = TurnQueue::Clock;

  Clock::time_point began_ = Clock::now();
};

}  // namespace redquel::executor
