#include "executor/transaction/lock_sweep.h"

#include <algorithm>
#include <map>
#include <utility>

#include "executor/scripts/scripts.h"
#include "executor/storage/locks.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kStepsPerRun = 100, kFieldsPerStep = 500, kKeysPerRoundTrip = 500;

/// Calls `take` with each of the words between blanks.
template <typename Take>
void for_each_word(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!word.empty()) take(word);
  }
}

std::string_view process_of(std::string_view token) { return token.substr(0, token.find('.')); }

/// Calls `take` with the token of each holder. `key`: of the locks, or of the waits, whose values begin with the one that waits.
template <typename Take>
void for_each_token(std::string_view key, std::string_view value, const Take& take) {
  if (sql::without_tag(key) == sql::kWaitsKey) take(value.substr(0, value.find(' ')));
  else for_each_word(value, [&](std::string_view holder) { take(holder.substr(1)); });
}

}  // namespace

asio::awaitable<std::set<std::string, std::less<>>> LockSweep::find_dead(std::string key, std::set<std::string, std::less<>> processes) {
  std::set<std::string, std::less<>> dead;
  if (processes.empty()) co_return dead;
  CommandBatch batch;
  for (const std::string& process : processes) batch.add("EXISTS", process_key(process, sql::tag_of(key)));
  const RepliesPtr replies = co_await redis_.execute(std::move(batch));
  std::size_t index = 0;
  for (const std::string& process : processes) {
    if (replies->integer(index++) == 0) dead.insert(process);
  }
  co_return dead;
}

asio::awaitable<void> LockSweep::run(std::string process, IsLiving is_living) {
  if (keys_.empty()) co_await list_keys();
  for (std::size_t step = 0; step < kStepsPerRun && !keys_.empty(); ++step) co_await take_step(process, is_living);
}

asio::awaitable<void> LockSweep::list_keys() {
  if (!tables_) co_return;
  std::vector<std::string> all{sql::home_key(sql::kAdvisoryKey), sql::home_key(sql::kWaitsKey)}, found;
  for (const PlacedTable& table : tables_()) all.push_back(lock_key(table));
  for (std::size_t first = 0; first < all.size(); first += kKeysPerRoundTrip) {
    const std::size_t last = std::min(first + kKeysPerRoundTrip, all.size());
    CommandBatch batch;
    for (std::size_t key = first; key < last; ++key) batch.add("EXISTS", all[key]);
    const RepliesPtr replies = co_await redis_.execute(std::move(batch));
    for (std::size_t key = first; key < last; ++key) {
      if (replies->integer(key - first) == 1) found.push_back(std::move(all[key]));
    }
  }
  keys_ = std::move(found);
  cursor_ = "0";
}

asio::awaitable<void> LockSweep::take_step(const std::string& process, const IsLiving& is_living) {
  const std::string key = keys_.back();
  CommandBatch look;
  look.add("HSCAN", key, cursor_, "COUNT", kFieldsPerStep);
  const RepliesPtr replies = co_await redis_.execute(std::move(look));
  const std::span<const Reply> answer = replies->array(0);
  if (keys_.empty() || keys_.back() != key) co_return;  // started over meanwhile
  cursor_ = answer.size() == 2 ? std::string(answer[0].text) : "0";
  if (cursor_ == "0") keys_.pop_back();
  if (answer.size() != 2) co_return;
  const std::span<const Reply> entries = answer[1].children();
  std::set<std::string, std::less<>> others;
  for (std::size_t index = 1; index < entries.size(); index += 2) {
    for_each_token(key, entries[index].text, [&](std::string_view token) {
      if (!token.starts_with(process)) others.emplace(process_of(token));
    });
  }
  // A lease that has ended never comes back.
  const std::set<std::string, std::less<>> dead = co_await find_dead(key, std::move(others));
  const auto is_left = [&](std::string_view token) { return token.starts_with(process) ? !is_living(token) : dead.contains(process_of(token)); };
  std::map<std::string, std::vector<std::string>> left;  // by token: the fields
  std::vector<std::string> waiters;
  for (std::size_t index = 0; index + 1 < entries.size(); index += 2) {
    const std::string_view field = entries[index].text, value = entries[index + 1].text;
    const bool is_wait = sql::without_tag(key) == sql::kWaitsKey;
    for_each_token(key, value, [&](std::string_view token) {
      if (!is_left(token)) return;
      if (is_wait) waiters.emplace_back(field);
      else left[std::string(token)].emplace_back(field);
    });
  }
  CommandBatch batch;
  const std::vector<std::string> keys{key};
  for (auto& [token, fields] : left) {
    fields.insert(fields.begin(), token);
    kForgetLocksScript.append_call(batch, keys, fields);
  }
  if (!waiters.empty()) batch.add("HDEL", key, waiters);
  if (batch.empty()) co_return;
  std::vector<const Script*> scripts{&kForgetLocksScript};
  const RepliesPtr removed = co_await run_scripts(redis_, std::move(scripts), std::move(batch));
  removed->or_throw();
}

}  // namespace redquel::executor
