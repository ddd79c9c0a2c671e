#include "executor/storage/read_checks.h"

#include <algorithm>

#include "sql/catalog/buckets.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

namespace {

/// More rows of one table are not listed: then the whole table counts as read.
constexpr std::size_t kMaxKnownRows = 10'000;

/// In a database with more tables, all counters are not read at once.
constexpr std::size_t kMaxCounters = 500;

std::optional<std::string> text_reply(const Reply& reply) {
  if (!reply.is_text()) return std::nullopt;
  return std::string(reply.text);
}

bool is_same(const ReadChecks::Row& row, const Reply& values) {
  const auto now = values.children();
  return std::equal(now.begin(), now.end(), row.values.begin(), row.values.end(),
                    [](const Reply& a, const std::optional<std::string>& b) { return text_reply(a) == b; });
}

}  // namespace

void ReadChecks::add_table(const sql::TableDef& table, bool whole) {
  Table& entry = tables_[table.oid];
  entry.counter_key = sql::TableKeys(table).changes();
  entry.whole = entry.whole || whole;
}

void ReadChecks::add_row(sql::Oid table, std::string key, const std::vector<std::string>& fields, const Reply& values) {
  const auto found = tables_.find(table);
  if (found == tables_.end() || found->second.whole) return;
  Row row{std::move(key), fields, {}};
  for (const Reply& value : values.children()) row.values.push_back(text_reply(value));
  found->second.rows.push_back(std::move(row));
  found->second.whole = found->second.rows.size() > kMaxKnownRows;
}

namespace {

asio::awaitable<std::map<std::string, std::string>> counters_of(RedisClient& redis, std::vector<std::string> keys) {
  CommandBatch batch;
  batch.add("MGET", keys);
  RepliesPtr replies = co_await redis.execute(std::move(batch));
  replies->or_throw();
  std::map<std::string, std::string> counters;
  for (std::size_t index = 0; index < keys.size(); ++index) counters[keys[index]] = text_reply(replies->array(0)[index]).value_or("");
  co_return counters;
}

void add_all(const sql::CatalogSnapshot& catalog, std::vector<std::string>& keys) {
  for (const auto& [oid, table] : catalog.tables) {
    for (const auto& stored : sql::own_stored_tables(table)) keys.push_back(sql::TableKeys(*stored).changes());
  }
}

}  // namespace

bool ReadChecks::agree_with(const std::map<std::string, std::string>& counters) const {
  return std::ranges::all_of(tables_, [&](const auto& entry) {
    const auto found = counters.find(entry.second.counter_key);
    return found != counters.end() && found->second == entry.second.counter;
  });
}

asio::awaitable<void> ReadChecks::take_counters(RedisClient& redis, const sql::CatalogSnapshot& catalog, const ReadChecks& earlier,
                                                ReadMoment& moment) {
  if (tables_.empty()) co_return;
  const bool takes_moment = !moment.is_known() && catalog.tables.size() <= kMaxCounters;
  std::vector<std::string> keys;
  for (const auto& [oid, table] : tables_) keys.push_back(table.counter_key);
  if (takes_moment) add_all(catalog, keys);
  std::map<std::string, std::string> counters = co_await counters_of(redis, std::move(keys));
  for (auto& [oid, table] : tables_) table.counter = counters.at(table.counter_key);
  if (takes_moment && earlier.agree_with(counters)) moment.set(std::move(counters));
}

asio::awaitable<void> ReadChecks::take_moment(RedisClient& redis, const sql::CatalogSnapshot& catalog, ReadMoment& moment) const {
  moment.forget();
  if (catalog.tables.empty() || catalog.tables.size() > kMaxCounters) co_return;
  std::vector<std::string> keys;
  add_all(catalog, keys);
  std::map<std::string, std::string> counters = co_await counters_of(redis, std::move(keys));
  if (agree_with(counters)) moment.set(std::move(counters));
}

bool ReadMoment::covers(const ReadChecks& reads) const { return is_known() && reads.agree_with(counters_); }

void ReadChecks::merge(ReadChecks other) {
  for (auto& [oid, table] : other.tables_) {
    const auto [found, is_new] = tables_.try_emplace(oid, table);
    if (is_new) continue;
    Table& known = found->second;
    known.counter = table.counter;
    known.whole = known.whole || table.whole;
    std::move(table.rows.begin(), table.rows.end(), std::back_inserter(known.rows));
    known.whole = known.whole || known.rows.size() > kMaxKnownRows;
    if (known.whole) known.rows.clear();
  }
}

ReadChecks ReadChecks::of_bucket(int bucket) const {
  ReadChecks some;
  for (const auto& [oid, table] : tables_) {
    if (sql::bucket_of(table.counter_key) == bucket) some.tables_.emplace(oid, table);
  }
  return some;
}

asio::awaitable<ReadChecks::Answer> ReadChecks::hold(RedisClient& redis, ReadChecks& first, ReadChecks& second) {
  Answer answer;
  std::vector<std::pair<Table*, bool*>> tables;
  for (auto& [oid, table] : first.tables_) tables.emplace_back(&table, &answer.first);
  for (auto& [oid, table] : second.tables_) tables.emplace_back(&table, &answer.second);
  if (tables.empty()) co_return answer;
  std::vector<std::string> keys;
  for (const auto& [table, holds] : tables) keys.push_back(table->counter_key);
  CommandBatch quick;
  quick.add("MGET", keys);
  RepliesPtr counters = co_await redis.execute(std::move(quick));
  counters->or_throw();
  bool moved = false;
  for (std::size_t index = 0; index < tables.size(); ++index) {
    moved = moved || text_reply(counters->array(0)[index]).value_or("") != tables[index].first->counter;
  }
  if (!moved) co_return answer;

  // Other rows changed, or those that were read: one look at all of them.
  CommandBatch batch;
  batch.add("MGET", keys);
  for (const auto& [table, holds] : tables) {
    for (const Row& row : table->rows) batch.add("HMGET", row.key, row.fields);
  }
  RepliesPtr replies = co_await redis.execute_atomic(std::move(batch));
  replies->or_throw();
  std::size_t reply = 1;
  for (std::size_t index = 0; index < tables.size(); ++index) {
    const auto [table, holds] = tables[index];
    const std::string now = text_reply(replies->array(0)[index]).value_or("");
    if (table->whole && now != table->counter) *holds = false;
    for (const Row& row : table->rows) *holds = is_same(row, (*replies)[reply++]) && *holds;
    table->counter = now;
  }
  co_return answer;
}

}  // namespace redquel::executor
