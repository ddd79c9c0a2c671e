#include "executor/storage/client_buckets.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <numeric>
#include <string_view>
#include <utility>

#include "executor/redis/unreplicated_commits.h"
#include "executor/storage/placed_table.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

CommandBatch batch_of(const std::vector<BucketCall>& calls) {
  CommandBatch batch;
  for (const BucketCall& call : calls) {
    std::vector<std::string> keys{own_key(sql::bucket_tag(call.bucket), sql::kNoKey)};
    keys.insert(keys.end(), call.keys.begin(), call.keys.end());
    call.script->append_call(batch, keys, call.arguments);
  }
  return batch;
}

std::vector<const Script*> scripts_of(const std::vector<BucketCall>& calls) {
  std::vector<const Script*> scripts;
  for (const BucketCall& call : calls) {
    if (std::ranges::find(scripts, call.script) == scripts.end()) scripts.push_back(call.script);
  }
  return scripts;
}

/// Returns true if Redis says that the script has not run, and may run later.
bool has_not_run(const BucketAnswer& answer) {
  constexpr std::string_view kLater[] = {"TRYAGAIN", "CLUSTERDOWN", "LOADING", "READONLY", "NOREPLICAS", "MISCONF", "MASTERDOWN"};
  if (answer.replies == nullptr || !(*answer.replies)[0].is_error()) return false;
  const std::string_view text = (*answer.replies)[0].text;
  return std::ranges::any_of(kLater, [&](std::string_view word) { return text.starts_with(word); });
}

constexpr std::chrono::milliseconds kResendPatience = std::chrono::seconds(60);
constexpr auto kResendPause = std::chrono::milliseconds(5);

}  // namespace

asio::awaitable<std::vector<BucketAnswer>> ClientBuckets::run(std::vector<BucketCall> calls) {
  std::vector<BucketAnswer> answers(calls.size());
  std::vector<std::size_t> open(calls.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  const std::chrono::milliseconds began = now();
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (true) {
    std::vector<BucketCall> sent;
    for (const std::size_t index : open) sent.push_back(calls[index]);
    const std::vector<BucketAnswer> round = co_await run_once(std::move(sent));
    std::vector<std::size_t> again;
    for (std::size_t index = 0; index < open.size(); ++index) {
      if (has_not_run(round[index])) again.push_back(open[index]);
      else answers[open[index]] = round[index];
    }
    open = std::move(again);
    if (open.empty() || now() - began > kResendPatience) co_return answers;
    timer.expires_after(kResendPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<std::vector<BucketAnswer>> ClientBuckets::run_once(std::vector<BucketCall> calls) {
  std::vector<BucketAnswer> answers(calls.size());
  const bool waits = std::ranges::any_of(calls, &BucketCall::waits);
  UnreplicatedCommits* const commits = client_.unreplicated();
  const UnreplicatedCommits::Ticket first = commits == nullptr ? 0 : commits->next();
  RepliesPtr replies;
  try {
    replies = co_await run_scripts(client_, scripts_of(calls), batch_of(calls));
  } catch (const sql::SqlError&) {  // nothing is known of any call: recovery asks
    co_return answers;
  }
  bool is_confirmed = true;
  try {
    if (waits && commits != nullptr) co_await commits->confirmed(first);
  } catch (const sql::SqlError&) {
    is_confirmed = false;
  }
  const std::size_t position[] = {0};
  for (std::size_t call = 0; call < calls.size(); ++call) {
    auto one = std::make_shared<Replies>();
    one->append(Reply{});
    answers[call] = {Replies::merge(std::move(one), position, replies, call), is_confirmed};
  }
  co_return answers;
}

}  // namespace redquel::executor
