#include "executor/storage/bucket_answers.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "executor/runtime/side_by_side.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

struct Silence {
  std::set<std::string, std::less<>> tags;
  std::uint64_t changes = 0;
};

Silence& silence_of_thread() {
  static thread_local Silence silence;
  return silence;
}

asio::awaitable<RepliesPtr> ask(RedisClient& client, CommandBatch question) {
  try {
    co_return co_await client.execute(std::move(question));
  } catch (const sql::SqlError&) {
    co_return nullptr;
  }
}

/// Null: there was no answer in time.
asio::awaitable<RepliesPtr> ask_in_time(RedisClient& client, CommandBatch question) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, kAnswerTime);
  auto both = asio::experimental::make_parallel_group(asio::co_spawn(executor, ask(client, std::move(question)), asio::deferred),
                                                      timer.async_wait(asio::deferred));
  auto [order, failure, replies, timer_error] = co_await both.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  co_return failure ? nullptr : std::move(replies);
}

asio::awaitable<void> ask_one(RedisClient& client, CommandBatch question, BucketAnswers& answers, std::size_t bucket) {
  RepliesPtr replies = co_await ask_in_time(client, std::move(question));
  if (!replies) co_return;
  const std::span<const Reply> own = replies->all();
  answers.set(bucket, std::move(replies), own);
}

}  // namespace

void note_silent_buckets(std::set<std::string, std::less<>> tags) {
  Silence& silence = silence_of_thread();
  if (tags == silence.tags) return;
  silence.tags = std::move(tags);
  ++silence.changes;
}

const std::set<std::string, std::less<>>& silent_buckets() { return silence_of_thread().tags; }

std::uint64_t silent_bucket_changes() { return silence_of_thread().changes; }

asio::awaitable<BucketAnswers> ask_buckets(RedisClient& client, std::vector<CommandBatch> questions) {
  BucketAnswers answers(questions.size());
  CommandBatch all;
  for (const CommandBatch& question : questions) all.append_batch(question);
  if (const RepliesPtr replies = co_await ask_in_time(client, std::move(all))) {
    std::size_t first = 0;
    for (std::size_t bucket = 0; bucket < questions.size(); ++bucket) {
      answers.set(bucket, replies, replies->all().subspan(first, questions[bucket].size()));
      first += questions[bucket].size();
    }
    co_return answers;
  }
  std::vector<asio::awaitable<void>> steps;
  for (std::size_t bucket = 0; bucket < questions.size(); ++bucket) {
    steps.push_back(ask_one(client, std::move(questions[bucket]), answers, bucket));
  }
  co_await run_side_by_side(std::move(steps));
  co_return answers;
}

}  // namespace redquel::executor
