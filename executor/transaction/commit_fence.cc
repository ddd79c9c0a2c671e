#include "executor/transaction/commit_fence.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <optional>

#include "executor/runtime/random_version.h"
#include "executor/scripts/scripts.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

constexpr auto kPatience = std::chrono::seconds(30);
constexpr auto kPause = std::chrono::milliseconds(100);

}  // namespace

CommitSlots::CommitSlots() : key_(std::string(sql::kCommitsPrefix) + random_version()) {}

CommitToken CommitSlots::take() {
  std::string slot;
  if (free_.empty()) {
    slot = std::to_string(++slots_);
  } else {
    slot = std::move(free_.back());
    free_.pop_back();
  }
  return {key_, std::move(slot), std::to_string(++numbers_)};
}

asio::awaitable<CommitOutcome> decide_commit(RedisClient& redis, std::string tag, CommitToken token, std::uint64_t generation) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  const std::vector<std::string> keys{own_key(tag, token.key)}, arguments{token.slot, token.number};
  while (std::chrono::steady_clock::now() < deadline) {
    std::optional<std::string> answer;
    try {
      RepliesPtr replies = co_await run_script(redis, kFenceCommitScript, keys, arguments);
      if (const auto text = replies->text(0)) answer = std::string(*text);
    } catch (const sql::SqlError&) {  // not yet there again
    }
    if (answer == "committed") co_return CommitOutcome::kCommitted;
    if (answer) co_return redis.generation() == generation ? CommitOutcome::kFenced : CommitOutcome::kUnknown;
    timer.expires_after(kPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return CommitOutcome::kUnknown;
}

}  // namespace redquel::executor
