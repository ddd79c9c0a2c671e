#include "executor/storage/units_in_flight.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <exception>

namespace redquel::executor {

namespace {

constexpr std::size_t kMostUnits = 2;

}  // namespace

struct UnitsInFlight::State {
  struct Sent {
    std::shared_ptr<WriteUnit> unit;
    Written written;
    bool is_done = false;
    WriteStatus status = WriteStatus::kApplied;
    std::exception_ptr failure;
  };

  State(asio::any_io_executor on, RedisClient& redis, Check looks)
      : executor(std::move(on)), client(redis), check(std::move(looks)), finished(executor) {}

  asio::any_io_executor executor;
  RedisClient& client;
  Check check;
  std::deque<std::shared_ptr<Sent>> units;
  std::size_t running = 0;
  asio::steady_timer finished;  // wakes waiters for a unit

  static asio::awaitable<void> run(std::shared_ptr<State> self, std::shared_ptr<Sent> sent) {
    try {
      sent->status = co_await sent->unit->execute(self->client);
    } catch (...) {
      sent->failure = std::current_exception();
    }
    sent->is_done = true;
    --self->running;
    self->finished.cancel();
  }

  asio::awaitable<void> wait_for_a_unit() {
    finished.expires_after(std::chrono::hours(1));
    boost::system::error_code woken;
    co_await finished.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    // A cancelled statement ends here; a unit that is done has woken us.
    if ((co_await asio::this_coro::cancellation_state).cancelled() != asio::cancellation_type::none) {
      throw boost::system::system_error(asio::error::operation_aborted);
    }
  }
};

UnitsInFlight::UnitsInFlight(asio::any_io_executor executor, RedisClient& client, Check check)
    : state_(std::make_shared<State>(std::move(executor), client, std::move(check))) {}

asio::awaitable<void> UnitsInFlight::finish_first() {
  while (!state_->units.front()->is_done) co_await state_->wait_for_a_unit();
  const std::shared_ptr<State::Sent> sent = std::move(state_->units.front());
  state_->units.pop_front();
  if (sent->failure) std::rethrow_exception(sent->failure);
  state_->check(*sent->unit, sent->status);
  if (sent->written) sent->written(*sent->unit);
}

asio::awaitable<void> UnitsInFlight::write(std::shared_ptr<WriteUnit> unit, Written written) {
  while (state_->units.size() >= kMostUnits) co_await finish_first();
  auto sent = std::make_shared<State::Sent>();
  sent->unit = std::move(unit);
  sent->written = std::move(written);
  state_->units.push_back(sent);
  ++state_->running;
  asio::co_spawn(state_->executor, State::run(state_, sent), asio::detached);
}

asio::awaitable<void> UnitsInFlight::flush() {
  while (!state_->units.empty()) co_await finish_first();
}

asio::awaitable<void> UnitsInFlight::settle() {
  const std::shared_ptr<State> state = state_;
  while (state->running > 0) co_await state->wait_for_a_unit();
  state->units.clear();
}

}  // namespace redquel::executor
