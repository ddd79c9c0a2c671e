#include "executor/storage/exclusive_tables.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <algorithm>
#include <charconv>
#include <set>

#include "executor/redis/redis_error.h"
#include "executor/runtime/lease_keeper.h"
#include "executor/runtime/random_version.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/bucket_answers.h"
#include "executor/storage/bucket_writes.h"
#include "executor/storage/catalog_marks.h"
#include "executor/storage/definition_parts.h"
#include "executor/storage/journal.h"
#include "executor/storage/version_copies.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

std::string lease_key(std::string_view tag, const std::string& unit) { return own_key(tag, sql::kUnitLeasePrefix) + unit; }

void append_step(CommandBatch& batch, std::string_view tag, std::string step, std::string unit, std::string owner, std::string fresh,
                 const std::vector<std::string>& more) {
  const std::vector<std::string> keys{own_key(tag, sql::kVersionKey), own_key(tag, sql::kVersionsKey), own_key(tag, sql::kExclusiveKey),
                                      lease_key(tag, unit), journal_key(tag, unit)};
  std::vector<std::string> arguments{std::move(step), std::move(unit), std::move(owner), std::to_string(kExclusiveLeaseMilliseconds),
                                     std::move(fresh)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  kExclusiveTablesScript.append_call(batch, keys, arguments);
}

asio::awaitable<std::string> run_step(RedisClient& client, std::string tag, std::string step, std::string unit, std::string owner,
                                      std::string fresh, std::vector<std::string> more) {
  const bool moves_version = step == "begin" || step == "end";
  CommandBatch batch;
  append_step(batch, tag, std::move(step), std::move(unit), std::move(owner), std::move(fresh), more);
  std::vector<const Script*> scripts{&kExclusiveTablesScript};
  const RepliesPtr replies = co_await run_scripts(client, std::move(scripts), std::move(batch));
  std::string answer(replies->text(0).value_or(""));
  if (moves_version && answer == "done") co_await renew_version(client);
  co_return answer;
}

std::vector<std::string> texts_of(const std::vector<PlacedTable>& tables) {
  std::vector<std::string> texts;
  for (const PlacedTable& table : tables) texts.push_back(std::to_string(table.oid()));
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
  std::vector<PlacedTable> tables;
  for (const auto& [oid, state] : all) {
    // The unit's tables in other buckets are recovered when a statement needs them.
    if (state.unit == dead.unit && state.tag == dead.tag) tables.push_back(dead.tag.empty() ? PlacedTable(oid) : PlacedTable(oid, sql::bucket_of(dead.tag)));
  }
  const std::string owner = random_version();
  if (!co_await take_over(client, dead.unit, dead.owner, owner, tables)) co_return false;
  if (!co_await undo_journal(client, tables.front(), dead.unit, owner)) co_return false;
  co_return co_await end_exclusive(client, dead.unit, owner, tables);
}

}  // namespace

std::string journal_key(std::string_view tag, const std::string& unit) { return own_key(tag, sql::kJournalPrefix) + unit; }

namespace {

CommandBatch marks_of(const std::string& tag) {
  CommandBatch batch;
  batch.add("HGETALL", own_key(tag, sql::kExclusiveKey));
  return batch;
}

void take_marks(std::span<const Reply> found, const std::string& tag, ExclusiveTables& tables) {
  for (std::size_t i = 0; i + 1 < found.size(); i += 2) {
    sql::Oid oid = 0;
    std::from_chars(found[i].text.data(), found[i].text.data() + found[i].text.size(), oid);
    std::vector<std::string> words = words_of(found[i + 1].text);
    if (words.size() == 4) tables[oid] = {words[0], words[1], words[2], words[3], tag};
  }
}

}  // namespace

asio::awaitable<ExclusiveTables> load_exclusive_tables(RedisClient& client, std::vector<std::string> tags) {
  CommandBatch batch;
  for (const std::string& tag : tags) batch.append_batch(marks_of(tag));
  const RepliesPtr replies = co_await client.execute(std::move(batch));
  ExclusiveTables tables;
  for (std::size_t index = 0; index < tags.size(); ++index) take_marks(replies->array(index), tags[index], tables);
  co_return tables;
}

asio::awaitable<ExclusiveTables> load_exclusive_tables(RedisClient& client, const sql::CatalogSnapshot& catalog) {
  const std::vector<std::string> tags = tags_in_use(catalog);
  if (tags.size() == 1) {
    std::vector<std::string> home = tags;
    co_return co_await load_exclusive_tables(client, std::move(home));
  }
  std::vector<CommandBatch> questions;
  for (const std::string& tag : tags) questions.push_back(marks_of(tag));
  const BucketAnswers answers = co_await ask_buckets(client, std::move(questions));
  ExclusiveTables tables;
  std::set<std::string_view> unanswered;
  for (std::size_t index = 0; index < tags.size(); ++index) {
    if (!answers.has(index)) {
      unanswered.insert(tags[index]);
      continue;
    }
    const Reply& reply = answers.of(index)[0];
    if (reply.is_error()) throw redis_error(reply.text, "HGETALL");
    take_marks(reply.children(), tags[index], tables);
  }
  if (unanswered.empty()) co_return tables;
  for (const auto& [oid, table] : catalog.tables) {
    if (table->is_mapped()) continue;
    for (const auto& stored : sql::own_stored_tables(table)) {
      if (unanswered.contains(stored->tag())) tables[stored->oid].tag = stored->tag();
    }
  }
  co_return tables;
}

asio::awaitable<bool> wait_while_exclusive(RedisClient& client, std::vector<PlacedTable> tables, LockDeadline deadline) {
  if (tables.empty()) co_return false;
  std::set<std::string> tags;
  for (const PlacedTable& table : tables) tags.emplace(table.tag());
  auto pause = std::chrono::milliseconds(1);
  bool waited = false;
  while (true) {
    std::vector<std::string> looked(tags.begin(), tags.end());
    const ExclusiveTables all = co_await load_exclusive_tables(client, std::move(looked));
    const auto blocking =
        std::ranges::find_if(all, [&](const auto& entry) { return std::ranges::find(tables, PlacedTable(entry.first)) != tables.end(); });
    if (blocking == all.end()) co_return waited;
    waited = true;
    const ExclusiveTable state = blocking->second;
    CommandBatch batch;
    batch.add("EXISTS", lease_key(state.tag, state.unit));
    RepliesPtr replies = co_await client.execute(std::move(batch));
    if (replies->integer(0) == 0 && co_await recover(client, all, state)) continue;
    end_leases_of_the_dead();
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
  std::map<int, std::vector<std::string>> buckets;
  for (const auto& table : tables) {
    std::vector<std::string>& arguments = buckets[PlacedTable(*table).bucket()];
    arguments.push_back(std::to_string(table->oid));
    arguments.push_back(table->version);
  }
  std::vector<PlacedTable> begun;
  for (const auto& [bucket, arguments] : buckets) {
    std::string tag = bucket == PlacedTable::kNone ? std::string() : std::string(sql::bucket_tag(bucket));
    const std::string answer = co_await run_step(client, std::move(tag), "begin", unit, unit, random_version(), arguments);
    if (answer != "done") {
      // Others that have tables of a later bucket may wait for those of an earlier one.
      if (!begun.empty()) co_await end_exclusive(client, unit, unit, begun);
      co_return answer == "busy" ? BeginResult::kBusy : BeginResult::kStale;
    }
    for (const auto& table : tables) {
      if (PlacedTable(*table).bucket() == bucket) begun.emplace_back(*table);
    }
  }
  co_return BeginResult::kBegun;
}

std::map<int, std::vector<PlacedTable>> by_bucket(const std::vector<PlacedTable>& tables) {
  std::map<int, std::vector<PlacedTable>> buckets;
  for (const PlacedTable& table : tables) buckets[table.bucket()].push_back(table);
  return buckets;
}

asio::awaitable<bool> extend_lease(RedisClient& client, const std::string& unit, const std::string& owner, PlacedTable table) {
  std::vector<std::string> arguments{std::to_string(table.oid())};
  std::string tag(table.tag());
  co_return co_await run_step(client, std::move(tag), "extend", unit, owner, std::string(), std::move(arguments)) == "done";
}

std::unique_ptr<KeptLease> keep_exclusive(int database, const std::string& unit, const std::string& owner, PlacedTable table) {
  if (lease_keeper() == nullptr) return nullptr;
  LeaseTerms terms{.database = database, .length = std::chrono::milliseconds(kExclusiveLeaseMilliseconds), .key = lease_key(table.tag(), unit),
                   .scripts = {&kExclusiveTablesScript}, .is_renewed = [](const Replies& replies) { return replies.text(0).value_or("") == "done"; }};
  append_step(terms.renewal, table.tag(), "extend", unit, owner, std::string(), {std::to_string(table.oid())});
  return lease_keeper()->keep(std::move(terms));
}

asio::awaitable<bool> take_over(RedisClient& client, const std::string& unit, const std::string& owner, const std::string& new_owner,
                                const std::vector<PlacedTable>& tables) {
  std::string tag(tables.front().tag());
  co_return co_await run_step(client, std::move(tag), "take", unit, owner, new_owner, texts_of(tables)) == "done";
}

asio::awaitable<bool> end_exclusive(RedisClient& client, const std::string& unit, const std::string& owner,
                                    const std::vector<PlacedTable>& tables) {
  bool is_owned = true;
  for (const auto& [bucket, some] : by_bucket(tables)) {
    std::string tag(some.front().tag());
    const std::string answer = co_await run_step(client, std::move(tag), "end", unit, owner, random_version(), texts_of(some));
    is_owned = is_owned && answer == "done";
  }
  co_return is_owned;
}

asio::awaitable<bool> commit_exclusive(RedisClient& client, std::string unit, std::vector<std::shared_ptr<const sql::TableDef>> tables) {
  DefinitionParts parts;
  std::set<std::string> tags;
  std::vector<sql::Oid> oids;
  for (const auto& table : tables) {
    const std::string versions = own_key(table->tag(), sql::kVersionsKey), oid = std::to_string(table->oid);
    parts.expect_field(versions, oid, unit);
    parts.run({"HSET", versions, oid, table->version});
    parts.run({"HDEL", own_key(table->tag(), sql::kExclusiveKey), oid});
    tags.emplace(table->tag());
    oids.push_back(table->oid);
  }
  for (const std::string& tag : tags) parts.run({"UNLINK", journal_key(tag, unit), lease_key(tag, unit)});
  std::vector<BucketWrite> writes;
  for (const auto& [bucket, words] : parts.words()) writes.push_back({bucket, definitions_program(words)});
  const auto refusals = co_await commit_writes(client, make_commit_name(parts.buckets(), oids), std::move(writes));
  if (refusals) co_return false;
  try {
    co_await renew_version(client);
  } catch (const sql::SqlError&) {  // the copies of the version are set right when definitions are loaded
  }
  co_return true;
}

asio::awaitable<bool> drop_last_chunk(RedisClient& client, const std::string& unit, const std::string& owner, PlacedTable table) {
  std::vector<std::string> arguments{std::to_string(table.oid())};
  std::string tag(table.tag());
  co_return co_await run_step(client, std::move(tag), "pop", unit, owner, std::string(), std::move(arguments)) == "done";
}

}  // namespace redquel::executor
