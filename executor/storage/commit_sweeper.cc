#include "executor/storage/commit_sweeper.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <exception>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "executor/runtime/background_pause.h"
#include "executor/runtime/known_types_executor.h"
#include "executor/storage/bucket_answers.h"
#include "executor/storage/bucket_commit.h"
#include "executor/storage/client_buckets.h"
#include "executor/storage/placed_table.h"
#include "executor/storage/version_copies.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

namespace {

constexpr std::chrono::milliseconds kLookPause{1000};
/// An owner forgets its commit after two seconds.
constexpr std::int64_t kForgottenMilliseconds = 60'000;
constexpr int kMostApplied = 100;

}  // namespace

struct CommitSweeper::State {
  explicit State(RedisClient& client) : redis(client), own_buckets(client), buckets(client.buckets() != nullptr ? *client.buckets() : own_buckets) {}

  /// Names of commits that are prepared somewhere, and old ones that are not forgotten yet.
  asio::awaitable<void> look(std::set<std::string>& prepared, std::set<std::string>& old) {
    CommandBatch times;
    times.add("TIME");
    const RepliesPtr time = co_await redis.execute(std::move(times));
    const std::span<const Reply> parts = time->array(0);
    const std::int64_t now = parts.empty() ? 0 : std::stoll(std::string(parts[0].text)) * 1000;
    std::vector<CommandBatch> questions;
    for (const std::string& tag : placement_tags()) {
      CommandBatch& question = questions.emplace_back();
      question.add("HKEYS", own_key(tag, sql::kPreparedKey));
      question.add("ZRANGE", own_key(tag, sql::kAppliedTimesKey), "-inf", now - kForgottenMilliseconds, "BYSCORE", "LIMIT", "0", kMostApplied);
    }
    const BucketAnswers answers = co_await ask_buckets(redis, std::move(questions));
    std::set<std::string, std::less<>> silent;
    for (std::size_t index = 0; index < placement_tags().size(); ++index) {
      if (!answers.has(index)) {
        silent.insert(placement_tags()[index]);
        continue;
      }
      for (const Reply& name : answers.of(index)[0].children()) prepared.emplace(name.text);
      for (const Reply& name : answers.of(index)[1].children()) old.emplace(name.text);
    }
    // A thread that has computed for long sees no answer in time. So other buckets must have answered, and a bucket counts if it is silent for two looks.
    if (silent.size() == placement_tags().size()) co_return;
    std::set<std::string, std::less<>> still_silent;
    std::ranges::set_intersection(silent, silent_before, std::inserter(still_silent, still_silent.end()));
    silent_before = std::move(silent);
    note_silent_buckets(std::move(still_silent));
  }

  /// A commit that is prepared for two looks has no owner, or one that stands still: both may be helped.
  asio::awaitable<void> sweep() {
    std::set<std::string> prepared, old;
    co_await look(prepared, old);
    for (const std::string& text : prepared) {
      const std::optional<CommitName> name = parse_commit_name(text);
      if (!name || !known.contains(text)) continue;
      try {
        co_await recover_commit(buckets, *name);
      } catch (const sql::SqlError&) {  // one of its buckets does not answer: others go on
      }
    }
    known = std::move(prepared);
    for (const std::string& text : old) {
      const std::optional<CommitName> name = parse_commit_name(text);
      if (!name) continue;
      const BucketCommitState state = co_await recover_commit(buckets, *name);
      if (state == BucketCommitState::kCommitted) co_await forget_commit(buckets, *name);
    }
  }

  RedisClient& redis;
  ClientBuckets own_buckets;  // where the client has none
  BucketSender& buckets;
  std::set<std::string> known;  // that were prepared at the last look
  std::set<std::string, std::less<>> silent_before;
  bool is_started = false, is_ended = false;
  BackgroundPause pause;
};

CommitSweeper::CommitSweeper(RedisClient& redis) : state_(std::make_shared<State>(redis)) {}

CommitSweeper::~CommitSweeper() {
  state_->is_ended = true;
  state_->pause.end();
}

asio::awaitable<void> CommitSweeper::start() {
  if (!sql::uses_cluster() || std::exchange(state_->is_started, true)) co_return;
  const asio::any_io_executor executor = without_known_types(co_await asio::this_coro::executor);
  asio::co_spawn(executor, keep(state_), asio::detached);
}

asio::awaitable<void> CommitSweeper::keep(std::shared_ptr<State> state) {
  while (!state->is_ended) {
    try {
      co_await state->sweep();
    } catch (const std::exception&) {  // a node is away: the next look may be luckier
    }
    if (state->is_ended) break;
    co_await state->pause.wait(kLookPause);
  }
}

}  // namespace redquel::executor
