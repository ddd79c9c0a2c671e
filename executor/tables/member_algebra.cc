#include "executor/tables/member_algebra.h"

#include <algorithm>
#include <unordered_set>

#include "executor/scripts/scripts.h"
#include "executor/tables/mapped_access.h"
#include "executor/tables/scan_budget.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Keys that one command names: a script's stack is no larger.
constexpr std::size_t kMaxKeys = 4000;

MemberAlgebra::Members texts_of(std::span<const Reply> replies) {
  MemberAlgebra::Members members;
  for (const Reply& reply : replies) members.emplace_back(reply.text);
  return members;
}

}  // namespace

asio::awaitable<RepliesPtr> MemberAlgebra::ask(CommandBatch batch, const std::vector<std::string>& keys) {
  RepliesPtr replies = co_await ask_mapped(reader_.table(), std::move(batch), false, context_, counters_);
  for (std::size_t i = 0; i < replies->size(); ++i) {
    if ((*replies)[i].is_error()) throw reader_.wrong_kind(keys[std::min(i, keys.size() - 1)], "set", (*replies)[i]);
  }
  co_return replies;
}

asio::awaitable<MemberAlgebra::Members> MemberAlgebra::next_page(Walk& walk) {
  if (walk.cursor != "0") co_await count_scanned_keys(context_, context_.limits.chunk_rows, kElementHint);
  CommandBatch batch;
  batch.add("SSCAN", walk.key, walk.cursor, "COUNT", context_.limits.chunk_rows);
  const std::vector<std::string> keys{walk.key};
  RepliesPtr replies = co_await ask(std::move(batch), keys);
  const auto parts = replies->array(0);
  if (parts.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of SSCAN");
  walk.cursor = std::string(parts[0].text);
  walk.is_over = walk.cursor == "0";
  co_return texts_of(parts[1].children());
}

asio::awaitable<MemberAlgebra::Members> MemberAlgebra::members(std::string key) {
  Walk walk{std::move(key)};
  Members members = co_await next_page(walk);
  if (walk.is_over) co_return members;
  std::unordered_set<std::string> seen(members.begin(), members.end());  // SSCAN may give a member twice
  while (!walk.is_over) {
    const Members page = co_await next_page(walk);
    seen.insert(page.begin(), page.end());
  }
  co_return Members(seen.begin(), seen.end());
}

asio::awaitable<MemberAlgebra::Members> MemberAlgebra::combine(Kind kind, std::vector<std::string> keys) {
  static constexpr std::string_view kNames[] = {"SINTER", "SUNION", "SDIFF"};
  if (keys.size() > kMaxKeys) co_return co_await combine_in_steps(kind, std::move(keys));
  if (!may_run_mapped_scripts(context_)) co_return co_await combine_without_script(kind, std::string(kNames[static_cast<std::size_t>(kind)]), std::move(keys));
  const std::vector<std::string> arguments{std::string(kNames[static_cast<std::size_t>(kind)]), std::to_string(context_.limits.set_members)};
  CommandBatch batch;
  kSmallSetsScript.append_call(batch, keys, arguments);
  RepliesPtr replies = co_await ask_mapped_script(reader_.table(), kSmallSetsScript, std::move(batch), context_, counters_);
  if ((*replies)[0].is_error()) throw reader_.wrong_kind(keys.front(), "set", (*replies)[0]);
  const auto answer = replies->array(0);
  if (answer.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of a script");
  const std::span<const Reply> list = answer[1].children();
  if (answer[0].integer == 1) co_return texts_of(list);
  if (kind == Kind::kIntersection) {  // the smallest set decides which members are looked for
    const auto least = std::ranges::min_element(list, {}, [](const Reply& card) { return card.integer; });
    std::swap(keys.front(), keys[static_cast<std::size_t>(least - list.begin())]);
  }
  co_return co_await combine_in_steps(kind, std::move(keys));
}

asio::awaitable<MemberAlgebra::Members> MemberAlgebra::combine_without_script(Kind kind, std::string command, std::vector<std::string> keys) {
  CommandBatch batch;
  for (const std::string& key : keys) batch.add("SCARD", key);
  RepliesPtr replies = co_await ask(std::move(batch), keys);
  std::size_t sum = 0, least = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    sum += static_cast<std::size_t>(replies->integer(i));
    if (replies->integer(i) < replies->integer(least)) least = i;
  }
  const std::size_t looks = kind == Kind::kIntersection ? static_cast<std::size_t>(replies->integer(least)) * keys.size() : sum;
  if (looks <= context_.limits.set_members) {
    CommandBatch small;
    small.add(command, keys);
    replies = co_await ask(std::move(small), keys);
    co_return texts_of(replies->array(0));
  }
  if (kind == Kind::kIntersection) std::swap(keys.front(), keys[least]);
  co_return co_await combine_in_steps(kind, std::move(keys));
}

asio::awaitable<MemberAlgebra::Members> MemberAlgebra::combine_in_steps(Kind kind, std::vector<std::string> keys) {
  std::unordered_set<std::string> found;
  if (kind == Kind::kUnion) {
    for (const std::string& key : keys) {
      std::string next = key;
      const Members more = co_await members(std::move(next));
      found.insert(more.begin(), more.end());
    }
    co_return Members(found.begin(), found.end());
  }
  Walk walk{keys.front()};
  keys.erase(keys.begin());
  while (!walk.is_over) {
    Members page = co_await next_page(walk);
    const Members kept = co_await keep(std::move(page), keys, kind == Kind::kIntersection);
    found.insert(kept.begin(), kept.end());
  }
  co_return Members(found.begin(), found.end());
}

asio::awaitable<MemberAlgebra::Members> MemberAlgebra::keep(Members page, const std::vector<std::string>& others, bool in_all) {
  if (page.empty()) co_return page;
  CommandBatch batch;
  for (const std::string& key : others) batch.add("SMISMEMBER", key, page);
  RepliesPtr replies = co_await ask(std::move(batch), others);
  Members kept;
  for (std::size_t i = 0; i < page.size(); ++i) {
    bool fits = true;
    for (std::size_t other = 0; other < others.size() && fits; ++other) fits = (replies->array(other)[i].integer == 1) == in_all;
    if (fits) kept.push_back(std::move(page[i]));
  }
  co_return kept;
}

}  // namespace redquel::executor
