#include "executor/storage/bucket_writes.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <deque>
#include <exception>
#include <utility>

#include "executor/runtime/known_types_executor.h"
#include "executor/storage/client_buckets.h"
#include "executor/storage/prepared_record.h"
#include "executor/storage/write_program.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Readers that have seen a commit in one bucket look for it in the others for a moment.
constexpr auto kForgetAfter = std::chrono::seconds(2);

/// Runs `work` with the way to the client's buckets.
template <typename Work>
auto over_buckets(RedisClient& client, Work work) -> decltype(work(std::declval<BucketSender&>())) {
  if (BucketSender* const buckets = client.buckets()) co_return co_await work(*buckets);
  ClientBuckets buckets(client);
  co_return co_await work(buckets);
}

/// The applied commits of this thread that are still to be forgotten, the oldest first.
struct Forgetting {
  static constexpr std::size_t kAtOnce = 500;
  std::deque<CommitName> names;
  bool is_waiting = false;

  static Forgetting& of_this_thread() {
    thread_local Forgetting forgetting;
    return forgetting;
  }
};

/// Forgets the commits that are there now.
asio::awaitable<void> forget(RedisClient& client, std::size_t count) {
  Forgetting& forgetting = Forgetting::of_this_thread();
  while (count > 0) {
    std::vector<CommitName> names;
    for (; count > 0 && names.size() < Forgetting::kAtOnce; --count) {
      names.push_back(std::move(forgetting.names.front()));
      forgetting.names.pop_front();
    }
    const auto run = [&names](BucketSender& buckets) { return forget_commits(buckets, std::move(names)); };
    try {
      co_await over_buckets(client, run);
    } catch (const std::exception&) {  // the sweeper does it
    }
  }
}

asio::awaitable<void> forget_later(RedisClient& client) {
  struct End {
    Forgetting& forgetting = Forgetting::of_this_thread();
    ~End() {
      forgetting.is_waiting = false;
      forgetting.names.clear();
    }
  };
  const End end;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (!end.forgetting.names.empty()) {
    const std::size_t count = end.forgetting.names.size();  // those that come meanwhile are too young for this round
    timer.expires_after(kForgetAfter);
    co_await timer.async_wait(asio::use_awaitable);
    co_await forget(client, count);
  }
}

}  // namespace

std::vector<std::string> definitions_program(const std::vector<std::string>& words) {
  WriteProgram program;
  const std::vector<std::string_view> parts(words.begin(), words.end());
  program.add(StepKind::kParts, {}, parts);
  program.add(StepKind::kRecord, {"", program.store(packed_words({}))});
  return {program.words().begin(), program.words().end()};
}

asio::awaitable<bool> finish_if_decided(RedisClient& client, CommitName name, int seen_in) {
  const auto ask = [&](BucketSender& buckets) { return is_commit_decided(buckets, name, seen_in); };
  if (!co_await over_buckets(client, ask)) co_return false;
  const auto recover = [&](BucketSender& buckets) { return recover_commit(buckets, name); };
  co_await over_buckets(client, recover);
  co_return true;
}

asio::awaitable<std::optional<std::vector<BucketCommitResult::Refusal>>> commit_writes(RedisClient& client, CommitName name,
                                                                                     std::vector<BucketWrite> writes) {
  const auto commit = [&](BucketSender& buckets) { return commit_in_buckets(buckets, name, std::move(writes)); };
  BucketCommitResult result = co_await over_buckets(client, commit);
  if (result.state == BucketCommitState::kUnknown) {
    throw sql::SqlError(sqlstate::kTransactionResolutionUnknown,
                        "a bucket of Redis could not be reached during COMMIT: it is not known whether it took place");
  }
  if (result.state == BucketCommitState::kAborted) co_return std::move(result.refusals);
  if (!result.is_applied) co_return std::nullopt;
  Forgetting& forgetting = Forgetting::of_this_thread();
  forgetting.names.push_back(std::move(name));
  const asio::any_io_executor executor = without_known_types(co_await asio::this_coro::executor);
  if (!std::exchange(forgetting.is_waiting, true)) asio::co_spawn(executor, forget_later(client), asio::detached);
  co_return std::nullopt;
}

}  // namespace redquel::executor
