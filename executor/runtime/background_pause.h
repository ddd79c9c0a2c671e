#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

namespace redquel::executor {

/// The pause between the turns of a coroutine that goes on beside the sessions. Its owner can end it early.
class BackgroundPause {
 public:
  /// Waits so long, or until `end`.
  boost::asio::awaitable<void> wait(std::chrono::milliseconds length) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, length);
    const Waiting waiting(timer_, timer);
    boost::system::error_code ended;
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ended));
  }
  void end() {
    if (timer_ != nullptr) timer_->cancel();
  }

 private:
  /// Also where the event loop is destroyed, and the coroutine with it, the timer is forgotten.
  struct Waiting {
    Waiting(boost::asio::steady_timer*& place, boost::asio::steady_timer& timer) : place(place) { place = &timer; }
    ~Waiting() { place = nullptr; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    boost::asio::steady_timer*& place;
  };

  boost::asio::steady_timer* timer_ = nullptr;  // null: no coroutine waits
};

}  // namespace redquel::executor
