#include "executor/storage/row_sweeper.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

#include "executor/storage/row_expiry.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

constexpr std::chrono::milliseconds kSweepPause{1000};
/// A little less than the pause, so that the same one may have the next turn.
constexpr int kTurnMilliseconds = 900;

asio::awaitable<void> take_sweeping_turn(RedisClient& redis) {
  CommandBatch ask;
  ask.add("EXISTS", sql::kExpiringKey);
  const RepliesPtr asked = co_await redis.execute(std::move(ask));
  if (asked->integer(0) == 0) co_return;
  CommandBatch turn;
  turn.add("SET", sql::kSweepKey, "1", "NX", "PX", kTurnMilliseconds);
  const RepliesPtr taken = co_await redis.execute(std::move(turn));
  taken->or_throw();
  if (taken->text(0)) co_await sweep_expired_rows(redis);
}

}  // namespace

struct RowSweeper::State {
  RedisClient& redis;
  bool is_started = false, is_ended = false;
  asio::steady_timer* timer = nullptr;
};

RowSweeper::RowSweeper(RedisClient& redis) : state_(std::make_shared<State>(State{redis})) {}

RowSweeper::~RowSweeper() {
  state_->is_ended = true;
  if (state_->timer != nullptr) state_->timer->cancel();
}

asio::awaitable<void> RowSweeper::start() {
  if (std::exchange(state_->is_started, true)) co_return;
  auto executor = co_await asio::this_coro::executor;
  asio::co_spawn(executor, keep(state_), asio::detached);
}

asio::awaitable<void> RowSweeper::keep(std::shared_ptr<State> state) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  state->timer = &timer;
  struct Forget {
    State& state;
    ~Forget() { state.timer = nullptr; }
  } forget{*state};
  while (!state->is_ended) {
    try {
      co_await take_sweeping_turn(state->redis);
    } catch (const sql::SqlError&) {  // read only, or lost: the next turn may be luckier
    }
    if (state->is_ended) break;
    timer.expires_after(kSweepPause);
    boost::system::error_code ended;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ended));
  }
}

}  // namespace redquel::executor
