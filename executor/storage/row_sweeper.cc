#include "executor/storage/row_sweeper.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <utility>

#include "executor/redis/executor_counts.h"
#include "executor/runtime/background_pause.h"
#include "executor/runtime/known_types_executor.h"
#include "executor/storage/bucket_answers.h"
#include "executor/storage/placed_table.h"
#include "executor/storage/row_expiry.h"
#include "executor/storage/version_copies.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

constexpr std::chrono::milliseconds kSweepPause{1000};
/// A little less than the pause, so that the same one may have the next turn.
constexpr int kTurnMilliseconds = 900;

asio::awaitable<void> take_sweeping_turn(RedisClient& redis) {
  std::vector<std::string> tags = placement_tags();
  std::vector<CommandBatch> questions(tags.size());
  for (std::size_t index = 0; index < tags.size(); ++index) questions[index].add("EXISTS", own_key(tags[index], sql::kExpiringKey));
  const BucketAnswers asked = co_await ask_buckets(redis, std::move(questions));
  for (std::size_t index = tags.size(); index-- > 0;) {
    if (!asked.has(index) || asked.of(index)[0].integer == 0) tags.erase(tags.begin() + static_cast<std::ptrdiff_t>(index));
  }
  if (tags.empty()) co_return;
  CommandBatch turn;
  turn.add("SET", sql::home_key(sql::kSweepKey), "1", "NX", "PX", kTurnMilliseconds);
  const RepliesPtr taken = co_await redis.execute(std::move(turn));
  taken->or_throw();
  if (!taken->text(0)) co_return;
  for (const std::string& tag : tags) counts_of_thread().swept_rows.add(co_await sweep_expired_rows(redis, tag));
}

}  // namespace

struct RowSweeper::State {
  explicit State(RedisClient& client) : redis(client) {}

  RedisClient& redis;
  bool is_started = false, is_ended = false;
  BackgroundPause pause;
};

RowSweeper::RowSweeper(RedisClient& redis) : state_(std::make_shared<State>(redis)) {}

RowSweeper::~RowSweeper() {
  state_->is_ended = true;
  state_->pause.end();
}

asio::awaitable<void> RowSweeper::start() {
  if (std::exchange(state_->is_started, true)) co_return;
  const asio::any_io_executor executor = without_known_types(co_await asio::this_coro::executor);
  asio::co_spawn(executor, keep(state_), asio::detached);
}

asio::awaitable<void> RowSweeper::keep(std::shared_ptr<State> state) {
  while (!state->is_ended) {
    try {
      co_await take_sweeping_turn(state->redis);
    } catch (const sql::SqlError&) {  // read only, or lost: the next turn may be luckier
    }
    if (state->is_ended) break;
    co_await state->pause.wait(kSweepPause);
  }
}

}  // namespace redquel::executor
