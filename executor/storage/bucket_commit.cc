#include "executor/storage/bucket_commit.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "executor/scripts/scripts.h"
#include "executor/storage/write_program.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Half the life of a tombstone and of an entry in the list of applied commits. An owner that is slower trusts neither.
constexpr std::chrono::milliseconds kSlowOwner = std::chrono::hours(12);
/// Recovery asks again as long, and then reports an unknown outcome.
constexpr std::chrono::milliseconds kRecoveryPatience = std::chrono::seconds(30);
constexpr auto kRecoveryPause = std::chrono::milliseconds(20);

/// Returns the first word of an answer; "" for a lost one and for an error of Redis.
std::string_view word_of(const BucketAnswer& answer) {
  if (answer.replies == nullptr || answer.replies->empty()) return {};
  const Reply& reply = (*answer.replies)[0];
  const Reply& first = reply.is_array() && reply.child_count > 0 ? reply.children()[0] : reply;
  return first.is_text() ? first.text : std::string_view();
}

bool has_refused(const BucketAnswer& answer) { return answer.replies != nullptr && word_of(answer) != "prepared"; }

bool all_say(const std::vector<BucketAnswer>& answers, std::string_view word) {
  return std::ranges::all_of(answers, [&](const BucketAnswer& answer) { return word_of(answer) == word; });
}

bool any_says(const std::vector<BucketAnswer>& answers, std::string_view word) {
  return std::ranges::any_of(answers, [&](const BucketAnswer& answer) { return word_of(answer) == word; });
}

/// Returns true if each answer is one of two words.
bool are_answers(const std::vector<BucketAnswer>& answers, std::string_view first, std::string_view second) {
  return std::ranges::all_of(answers, [&](const BucketAnswer& answer) { return word_of(answer) == first || word_of(answer) == second; });
}

bool are_confirmed(const std::vector<BucketAnswer>& answers) { return std::ranges::all_of(answers, &BucketAnswer::is_confirmed); }

/// Makes a call of one script in all buckets of the commit.
std::vector<BucketCall> calls_of(const CommitName& name, const Script& script, bool waits, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{name.text};
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::vector<BucketCall> calls;
  calls.reserve(name.buckets.size());
  for (const int bucket : name.buckets) calls.push_back({bucket, &script, {}, arguments, waits});
  return calls;
}

std::vector<BucketCall> prepares_of(const CommitName& name, std::vector<BucketWrite> writes) {
  std::vector<BucketCall> calls;
  calls.reserve(writes.size());
  for (BucketWrite& write : writes) {
    std::vector<std::string> arguments{std::string(step_info(StepKind::kUnprepared).name), name.text};
    arguments.reserve(write.program.size() + arguments.size());
    std::ranges::move(write.program, std::back_inserter(arguments));
    calls.push_back({write.bucket, &kPrepareCommitScript, {}, std::move(arguments), true});
  }
  return calls;
}

/// Runs calls of a commit that may be prepared somewhere: without an answer it stays so.
asio::awaitable<std::vector<BucketAnswer>> run_or_leave(BucketSender& sender, std::vector<BucketCall> calls) {
  std::vector<BucketAnswer> answers(calls.size());
  try {
    answers = co_await sender.run(std::move(calls));
  } catch (const sql::SqlError&) {  // nothing was sent: recovery asks again
  }
  co_return answers;
}

/// Says why a commit stays as it is: an older redquel has prepared it, …
void log_refusals(const std::vector<BucketAnswer>& answers) {
  for (const BucketAnswer& answer : answers) {
    const bool is_error = answer.replies != nullptr && !answer.replies->empty() && (*answer.replies)[0].is_error();
    if (is_error) spdlog::warn("a commit over several buckets is not completed: {}", (*answer.replies)[0].text);
  }
}

/// One round of recovery. Returns kUnknown if an answer is missing.
asio::awaitable<BucketCommitState> recover_once(BucketSender& sender, const CommitName& name, bool is_last) {
  std::vector<BucketCall> fences = calls_of(name, kFencePreparedScript, true);
  const std::vector<BucketAnswer> states = co_await run_or_leave(sender, std::move(fences));
  const bool are_known = std::ranges::all_of(states, [](const BucketAnswer& answer) {
    const std::string_view word = word_of(answer);
    return word == "applied" || word == "prepared" || word == "aborted";
  });
  // A record or a tombstone that only a master has decides nothing.
  if (!are_known || !are_confirmed(states)) co_return BucketCommitState::kUnknown;
  if (any_says(states, "aborted") && !any_says(states, "applied")) {
    std::vector<BucketCall> aborts = calls_of(name, kAbortCommitScript, false);
    const std::vector<BucketAnswer> answers = co_await run_or_leave(sender, std::move(aborts));
    if (is_last) log_refusals(answers);
    if (!are_answers(answers, "aborted", "applied")) co_return BucketCommitState::kUnknown;
    // "applied": the bucket that said "aborted" has forgotten the commit.
    if (any_says(answers, "applied")) co_return BucketCommitState::kCommitted;
    co_return BucketCommitState::kAborted;
  }
  std::vector<BucketCall> applies = calls_of(name, kApplyCommitScript, false);
  const std::vector<BucketAnswer> answers = co_await run_or_leave(sender, std::move(applies));
  if (is_last) log_refusals(answers);
  if (!are_answers(answers, "applied", "unknown")) co_return BucketCommitState::kUnknown;
  co_return BucketCommitState::kCommitted;
}

[[noreturn]] void refuse_unreachable() {
  throw sql::SqlError(sqlstate::kCannotConnectNow, "a bucket of Redis cannot be reached");
}

std::vector<BucketCommitResult::Refusal> refusals_of(const std::vector<BucketAnswer>& answers, const std::vector<int>& buckets) {
  std::vector<BucketCommitResult::Refusal> refusals;
  for (std::size_t index = 0; index < answers.size(); ++index) {
    if (has_refused(answers[index]) && word_of(answers[index]) != "aborted") refusals.push_back({buckets[index], answers[index].replies});
  }
  return refusals;
}

}  // namespace

asio::awaitable<BucketCommitResult> commit_in_buckets(BucketSender& sender, CommitName name, std::vector<BucketWrite> writes) {
  const std::chrono::milliseconds began = sender.now();
  std::vector<int> buckets;
  for (const BucketWrite& write : writes) buckets.push_back(write.bucket);
  std::vector<BucketCall> prepares = prepares_of(name, std::move(writes));
  const std::vector<BucketAnswer> answers = co_await sender.run(std::move(prepares));
  const bool is_slow = sender.now() - began > kSlowOwner;
  BucketCommitResult result{BucketCommitState::kUnknown, refusals_of(answers, buckets)};
  if (all_say(answers, "prepared") && are_confirmed(answers) && !is_slow) {
    // The commit is decided. A bucket that cannot be reached now applies it later.
    std::vector<BucketCall> applies = calls_of(name, kApplyCommitScript, false);
    const std::vector<BucketAnswer> applied = co_await run_or_leave(sender, std::move(applies));
    result.state = BucketCommitState::kCommitted;
    result.is_applied = all_say(applied, "applied");
    co_return result;
  }
  if (std::ranges::any_of(answers, has_refused)) {
    // Where another transaction was in the way, the commit is tried again.
    std::vector<BucketCall> aborts = calls_of(name, kAbortCommitScript, false, {"goes on"});
    const std::vector<BucketAnswer> aborted = co_await run_or_leave(sender, std::move(aborts));
    if (all_say(aborted, "aborted")) {
      result.state = BucketCommitState::kAborted;
      co_return result;
    }
  }
  result.state = co_await recover_commit(sender, name);
  // Other processes may have applied the commit, and forgotten it a day later.
  if (result.state == BucketCommitState::kAborted && sender.now() - began > kSlowOwner) result.state = BucketCommitState::kUnknown;
  co_return result;
}

asio::awaitable<BucketCommitState> recover_commit(BucketSender& sender, CommitName name) {
  const std::chrono::milliseconds began = sender.now();
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (true) {
    const bool is_last = sender.is_closed() || sender.now() - began > kRecoveryPatience;
    const BucketCommitState state = co_await recover_once(sender, name, is_last);
    if (state != BucketCommitState::kUnknown || is_last) co_return state;
    timer.expires_after(kRecoveryPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<bool> is_commit_decided(BucketSender& sender, CommitName name, int seen_in) {
  CommitName others = name;
  std::erase(others.buckets, seen_in);
  std::vector<BucketCall> calls = calls_of(others, kCommitStateScript, false);
  const std::vector<BucketAnswer> states = co_await sender.run(std::move(calls));
  if (std::ranges::any_of(states, [](const BucketAnswer& answer) { return word_of(answer).empty(); })) refuse_unreachable();
  if (!any_says(states, "never")) co_return true;
  // "never" also means: applied everywhere and forgotten. Then the record is not there any more.
  others.buckets.assign(1, seen_in);
  std::vector<BucketCall> second_look = calls_of(others, kCommitStateScript, false);
  const std::vector<BucketAnswer> state = co_await sender.run(std::move(second_look));
  if (word_of(state[0]).empty()) refuse_unreachable();
  co_return word_of(state[0]) != "prepared";
}

namespace {

/// Returns the number of commits that it has removed.
asio::awaitable<std::size_t> forget_applied(BucketSender& sender, std::vector<CommitName> names) {
  std::map<int, std::vector<std::size_t>> by_bucket;
  for (std::size_t index = 0; index < names.size(); ++index) {
    for (const int bucket : names[index].buckets) by_bucket[bucket].push_back(index);
  }
  const auto call_of = [&](int bucket, const std::vector<std::size_t>& some, const Script& script, bool waits) {
    BucketCall call{bucket, &script, {}, {}, waits};
    for (const std::size_t index : some) call.arguments.push_back(names[index].text);
    return call;
  };
  std::vector<BucketCall> fences;
  for (const auto& [bucket, some] : by_bucket) fences.push_back(call_of(bucket, some, kFencePreparedScript, true));
  const std::vector<BucketAnswer> states = co_await sender.run(std::move(fences));
  std::vector<bool> is_applied(names.size(), true);
  std::size_t number = 0;
  for (const auto& [bucket, some] : by_bucket) {
    const BucketAnswer& answer = states[number++];
    for (std::size_t i = 0; i < some.size(); ++i) {
      const bool is_known = answer.replies != nullptr && answer.is_confirmed && !answer.replies->empty();
      const Reply* word = is_known ? &(*answer.replies)[0] : nullptr;
      if (word != nullptr && word->is_array()) word = i < word->child_count ? &word->children()[i] : nullptr;
      if (word == nullptr || !word->is_text() || word->text != "applied") is_applied[some[i]] = false;
    }
  }
  std::vector<BucketCall> forgets;
  for (auto& [bucket, some] : by_bucket) {
    std::erase_if(some, [&](std::size_t index) { return !is_applied[index]; });
    if (!some.empty()) forgets.push_back(call_of(bucket, some, kForgetCommitsScript, false));
  }
  if (!forgets.empty()) co_await sender.run(std::move(forgets));
  co_return static_cast<std::size_t>(std::ranges::count(is_applied, true));
}

}  // namespace

asio::awaitable<bool> forget_commit(BucketSender& sender, CommitName name) {
  std::vector<CommitName> names{std::move(name)};
  co_return co_await forget_applied(sender, std::move(names)) == 1;
}

asio::awaitable<void> forget_commits(BucketSender& sender, std::vector<CommitName> names) { co_await forget_applied(sender, std::move(names)); }

}  // namespace redquel::executor
