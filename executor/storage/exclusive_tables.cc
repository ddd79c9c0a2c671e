#include "executor/storage/exclusive_tables.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <algorithm>
#include <charconv>

#include "executor/runtime/random_version.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/journal.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

std::string lease_key(const std::string& unit) { return std::string(sql::kUnitLeasePrefix) + unit; }

asio::awaitable<std::string> run_step(RedisClient& client, std::string step, std::string unit, std::string owner, std::string fresh,
                                      std::vector<std::string> more) {
  const std::vector<std::string> keys{std::string(sql::kVersionKey), std::string(sql::kVersionsKey), std::string(sql::kExclusiveKey), lease_key(unit), journal_key(unit)};
  std::vector<std::string> arguments{std::move(step), std::move(unit), std::move(owner), std::to_string(kExclusiveLeaseMilliseconds),
                                     std::move(fresh)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  RepliesPtr replies = co_await run_script(client, kExclusiveTablesScript, keys, arguments);
  co_return std::string(replies->text(0).value_or(""));
}

std::vector<std::string> texts_of(const std::vector<sql::Oid>& tables) {
  std::vector<std::string> texts;
  for (const sql::Oid oid : tables) texts.push_back(std::to_string(oid));
  return texts;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t blank = text.find(' ');
    words.emplace_back(text.substr(0, blank));
    if (blank == std::string_view::npos) return words;
    text.remove_prefix(blank + 1);
  }
}

/// Undoes a unit whose owner is gone. Returns false if the owner lives, or another process already undoes it.
asio::awaitable<bool> recover(RedisClient& client, const ExclusiveTables& all, const ExclusiveTable& dead) {
  std::vector<sql::Oid> tables;
  for (const auto& [oid, state] : all) {
    if (state.unit == dead.unit) tables.push_back(oid);
  }
  const std::string owner = random_version();
  if (!co_await take_over(client, dead.unit, dead.owner, owner, tables)) co_return false;
  if (!co_await undo_journal(client, dead.unit, owner)) co_return false;
  co_return co_await end_exclusive(client, dead.unit, owner, tables);
}

}  // namespace

std::string journal_key(const std::string& unit) { return std::string(sql::kJournalPrefix) + unit; }

asio::awaitable<ExclusiveTables> load_exclusive_tables(RedisClient& client) {
  CommandBatch batch;
  batch.add("HGETALL", sql::kExclusiveKey);
  RepliesPtr replies = co_await client.execute(std::move(batch));
  const std::span<const Reply> found = replies->array(0);
  ExclusiveTables tables;
  for (std::size_t i = 0; i + 1 < found.size(); i += 2) {
    sql::Oid oid = 0;
    std::from_chars(found[i].text.data(), found[i].text.data() + found[i].text.size(), oid);
    std::vector<std::string> words = words_of(found[i + 1].text);
    if (words.size() == 4) tables[oid] = {words[0], words[1], words[2], words[3]};
  }
  co_return tables;
}

asio::awaitable<bool> wait_while_exclusive(RedisClient& client, std::vector<sql::Oid> tables, LockDeadline deadline) {
  if (tables.empty()) co_return false;
  auto pause = std::chrono::milliseconds(1);
  bool waited = false;
  while (true) {
    const ExclusiveTables all = co_await load_exclusive_tables(client);
    const auto blocking =
        std::ranges::find_if(all, [&](const auto& entry) { return std::ranges::find(tables, entry.first) != tables.end(); });
    if (blocking == all.end()) co_return waited;
    waited = true;
    const ExclusiveTable state = blocking->second;
    CommandBatch batch;
    batch.add("EXISTS", lease_key(state.unit));
    RepliesPtr replies = co_await client.execute(std::move(batch));
    if (replies->integer(0) == 0 && co_await recover(client, all, state)) continue;
    if (deadline && std::chrono::steady_clock::now() >= *deadline) {
      throw sql::SqlError(sqlstate::kLockNotAvailable, "canceling statement due to lock timeout");
    }
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_after(pause);
    co_await timer.async_wait(asio::use_awaitable);
    pause = std::min(pause * 2, std::chrono::milliseconds(50));
  }
}

asio::awaitable<BeginResult> begin_exclusive(RedisClient& client, const std::string& unit,
                                             std::span<const std::shared_ptr<const sql::TableDef>> tables) {
  std::vector<std::string> arguments;
  for (const auto& table : tables) {
    arguments.push_back(std::to_string(table->oid));
    arguments.push_back(table->version);
  }
  const std::string answer = co_await run_step(client, "begin", unit, unit, random_version(), std::move(arguments));
  co_return answer == "done" ? BeginResult::kBegun : answer == "busy" ? BeginResult::kBusy : BeginResult::kStale;
}

asio::awaitable<bool> extend_lease(RedisClient& client, const std::string& unit, const std::string& owner, sql::Oid table) {
  std::vector<std::string> arguments{std::to_string(table)};
  co_return co_await run_step(client, "extend", unit, owner, std::string(), std::move(arguments)) == "done";
}

asio::awaitable<bool> take_over(RedisClient& client, const std::string& unit, const std::string& owner, const std::string& new_owner,
                                const std::vector<sql::Oid>& tables) {
  co_return co_await run_step(client, "take", unit, owner, new_owner, texts_of(tables)) == "done";
}

asio::awaitable<bool> end_exclusive(RedisClient& client, const std::string& unit, const std::string& owner,
                                    const std::vector<sql::Oid>& tables) {
  co_return co_await run_step(client, "end", unit, owner, random_version(), texts_of(tables)) == "done";
}

asio::awaitable<bool> drop_last_chunk(RedisClient& client, const std::string& unit, const std::string& owner, sql::Oid table) {
  std::vector<std::string> arguments{std::to_string(table)};
  co_return co_await run_step(client, "pop", unit, owner, std::string(), std::move(arguments)) == "done";
}

}  // namespace redquel::executor
