#include "executor/runtime/turn_queue.h"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "executor/runtime/event_loop_turn.h"
#include "executor/runtime/known_types_executor.h"

namespace redquel::executor {

namespace {

/// A turn while other handlers have work. Ten of them cost a computation 3 % of its time.
constexpr TurnQueue::Clock::duration kShortTurn = std::chrono::microseconds(200);
/// Turns are long again after other handlers had no work for this time.
constexpr TurnQueue::Clock::duration kQuietTime = std::chrono::milliseconds(100);

}  // namespace

asio::execution_context::id TurnQueue::id;

asio::awaitable<bool> TurnQueue::wait() {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  asio::io_context* const loop = loop_of(executor);
  if (loop == nullptr) {
    co_await asio::post(asio::use_awaitable);
    co_return false;
  }
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
      [](auto handler, asio::io_context* of) {
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        asio::use_service<TurnQueue>(*of).add(*of, [shared = std::move(shared)] {
          const auto own = asio::get_associated_executor(*shared);
          asio::dispatch(own, std::move(*shared));
        });
      },
      asio::use_awaitable, loop);
  co_return asio::use_service<TurnQueue>(*loop).others_ran_;
}

void TurnQueue::add(asio::io_context& loop, std::function<void()> resume) {
  waiting_.push_back(std::move(resume));
  if (!is_scheduled_) schedule(loop);
}

void TurnQueue::schedule(asio::io_context& loop) {
  is_scheduled_ = true;
  asio::post(loop, [this, &loop] { run_one(loop); });
}

void TurnQueue::run_others(asio::io_context& loop) {
  const Clock::time_point began = Clock::now();
  handler_began_ = began;
  others_ran_ = false;
  while (handler_began_ - began <= kLongest && loop.poll_one() > 0) {
    others_ran_ = true;
    handler_began_ = Clock::now();
  }
  if (others_ran_) others_last_ran_ = handler_began_;
  turn_length_ = handler_began_ - others_last_ran_ < kQuietTime ? kShortTurn : kLongest;
}

void TurnQueue::run_one(asio::io_context& loop) {
  run_others(loop);
  if (waiting_.empty()) {
    is_scheduled_ = false;
    return;
  }
  const std::function<void()> resume = std::move(waiting_.front());
  waiting_.pop_front();
  if (waiting_.empty()) is_scheduled_ = false;
  else schedule(loop);
  resume();
}

}  // namespace redquel::executor
