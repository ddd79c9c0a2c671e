#include "executor/storage/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <numeric>
#include <unordered_map>

#include "executor/redis/redis_error.h"
#include "executor/scripts/scripts.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/catalog_json.h"
#include "sql/catalog/slot_tags.h"
#include "sql/catalog/stored_keys.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"
#include "sql/functions/quote.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

std::int64_t parse(std::string_view text, const sql::SequenceDef& sequence) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) throw damaged_counter(sequence);
  return value;
}

/// Returns the field of the definition in the catalog.
std::string definition_field(const sql::SequenceDef& sequence) { return "sequence:" + std::to_string(sequence.oid); }

SqlError exhausted(const sql::SequenceDef& sequence) {
  const bool descending = sequence.increment < 0;
  return SqlError(sqlstate::kSequenceGeneratorLimitExceeded,
                  fmt::format("nextval: reached {} value of sequence \"{}\" ({})", descending ? "minimum" : "maximum", sequence.name,
                              descending ? sequence.minimum : sequence.maximum));
}

}  // namespace

SqlError damaged_counter(const sql::SequenceDef& sequence) {
  const std::string schema = sequence.schema == "public" ? std::string() : sql::quote_identifier(sequence.schema) + ".";
  return SqlError(sqlstate::kDataCorrupted,
                  fmt::format("key \"{}\" in Redis does not hold the counter of sequence \"{}\"", sequence.key,
                              sequence.name))
      .hint(fmt::format("SELECT setval('{}{}', …) writes the counter anew.", schema,
                        sql::quote_identifier(sequence.name)));
}

asio::awaitable<std::optional<SequenceRuns>> allocate_runs(RedisClient& client, const sql::SequenceDef& sequence, std::size_t count,
                                                           std::size_t ahead, const std::string* version, ExecutionCounters* counters) {
  SequenceRuns runs;
  if (count == 0) co_return runs;
  std::vector<std::string> keys;
  if (sequence.foreign && sql::uses_cluster()) keys.push_back(sql::slot_tag(sql::slot_of(sequence.key)).append(sql::kNoKey));
  std::vector<std::string> arguments{std::to_string(sequence.start),   std::to_string(sequence.increment),
                                     std::to_string(sequence.minimum), std::to_string(sequence.maximum),
                                     sequence.cycle ? "1" : "0",       std::to_string(count + ahead),
                                     std::to_string(ahead)};
  keys.push_back(sequence.key);
  RepliesPtr replies = co_await run_script(client, kAllocateValuesScript, keys, arguments, counters);
  const std::span<const Reply> given = replies->array(0);
  const bool has_moved = version != nullptr && replies->catalog_version() != *version;
  if (has_moved && !co_await is_defined_so(client, sequence, counters)) co_return std::nullopt;
  if (given.size() == 1 && given[0].text == "junk") throw damaged_counter(sequence);
  if (given.size() == 1) throw exhausted(sequence);
  std::size_t total = 0;
  for (std::size_t index = 0; index + 1 < given.size(); index += 2) {
    const std::int64_t last = parse(given[index].text, sequence);
    const std::int64_t size = parse(given[index + 1].text, sequence);
    if (size < 1) throw unexpected_reply("EVALSHA", "values of a sequence");
    runs.push_back({last - (size - 1) * sequence.increment, size});
    total += static_cast<std::size_t>(size);
  }
  if (total < count || total > count + ahead) throw unexpected_reply("EVALSHA", "as many values as asked for");
  co_return runs;
}

asio::awaitable<std::vector<std::int64_t>> allocate(RedisClient& client, const sql::SequenceDef& sequence, std::size_t count) {
  std::optional<SequenceRuns> runs = co_await allocate_runs(client, sequence, count, 0, nullptr, nullptr);
  co_return take_values(*runs, sequence, count);
}

std::vector<std::int64_t> take_values(SequenceRuns& runs, const sql::SequenceDef& sequence, std::size_t count) {
  std::vector<std::int64_t> values;
  values.reserve(count);
  while (values.size() < count && !runs.empty()) {
    sql::SessionSequences::Run& run = runs.front();
    values.push_back(run.first);
    if (--run.count == 0) {
      runs.pop_front();
    } else {
      run.first += sequence.increment;
    }
  }
  return values;
}

asio::awaitable<bool> is_defined_so(RedisClient& client, const sql::SequenceDef& sequence, ExecutionCounters* counters) {
  CommandBatch batch;
  batch.add("HGET", sql::home_key(sql::kCatalogKey), definition_field(sequence));
  RepliesPtr replies = co_await client.execute(std::move(batch), counters);
  const std::optional<std::string_view> definition = replies->text(0);
  co_return definition && *definition == sql::encode_sequence(sequence);
}

asio::awaitable<void> set_sequence(RedisClient& client, const sql::SequenceDef& sequence, std::int64_t value, bool is_called) {
  if (value < sequence.minimum || value > sequence.maximum) {
    throw SqlError(sqlstate::kNumericValueOutOfRange, fmt::format("setval: value {} is out of bounds for sequence \"{}\" ({}..{})", value,
                                                                  sequence.name, sequence.minimum, sequence.maximum));
  }
  CommandBatch batch;
  std::int64_t stored = value;
  if (is_called) {
    batch.add("SET", sequence.key, value);
  } else if (value == sequence.start) {
    batch.add("DEL", sequence.key);
  } else if (!__builtin_sub_overflow(value, sequence.increment, &stored)) {
    batch.add("SET", sequence.key, stored);
  } else {
    throw SqlError(sqlstate::kNumericValueOutOfRange,
                   fmt::format("setval: value {} leaves no room for the increment of sequence \"{}\"", value, sequence.name));
  }
  RepliesPtr replies = co_await client.execute(std::move(batch));
  replies->or_throw();
}

asio::awaitable<std::optional<std::int64_t>> last_value(RedisClient& client, const sql::SequenceDef& sequence) {
  CommandBatch batch;
  batch.add("GET", sequence.key);
  RepliesPtr replies = co_await client.execute(std::move(batch));
  const std::optional<std::string_view> text = replies->text(0);
  if (!text) co_return std::nullopt;
  co_return parse(*text, sequence);
}

namespace {

using Clock = std::chrono::steady_clock;

/// The lifetime of keys that were taken ahead, and the number of statements within it from which on a table counts as one that gets row
/// after row. Slower inserters ask for each row, so that rows of several sessions lie in the order of their inserts.
constexpr auto kKeysAheadLast = std::chrono::milliseconds(100);
constexpr std::size_t kFewStatements = 8, kMostKeysAhead = 100;
constexpr std::size_t kMostTables = 1000;

/// The hidden keys of a table that one thread has taken.
struct KeysAhead {
  std::string version;  // of the table's definition: under another one the counter may be another
  std::uint64_t generation = 0;  // of the Redis that gave them
  Clock::time_point since{};
  std::size_t statements = 0, statements_before = 0;  // since then, and in the same time before
  std::int64_t next = 1, last = 0;                    // what is left

  /// Statements that will want one soon.
  std::size_t expected() const {
    const std::size_t most = std::max(statements, statements_before);
    return most < kFewStatements ? 0 : std::min(most, kMostKeysAhead);
  }
};

KeysAhead& keys_ahead(const RedisClient& client, const sql::TableDef& table) {
  thread_local std::unordered_map<std::string, KeysAhead> tables;
  if (tables.size() > kMostTables) tables.clear();
  KeysAhead& ahead = tables[sql::TableKeys(table).changes()];
  const Clock::time_point now = Clock::now();
  const bool is_known = ahead.version == table.version && ahead.generation == client.generation();
  if (!is_known || now - ahead.since > kKeysAheadLast) {
    const bool is_next = is_known && now - ahead.since <= 2 * kKeysAheadLast;
    ahead = {.version = table.version, .generation = client.generation(), .since = now,
             .statements_before = is_next ? ahead.statements : 0};
  }
  return ahead;
}

std::vector<std::int64_t> numbers_from(std::int64_t first, std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

asio::awaitable<std::vector<std::int64_t>> allocate_row_keys(RedisClient& client, const sql::TableDef& table, std::size_t count,
                                                             ExecutionCounters* counters) {
  if (count == 0) co_return std::vector<std::int64_t>();
  std::size_t asked = count;
  if (count == 1) {
    KeysAhead& ahead = keys_ahead(client, table);
    ++ahead.statements;
    if (ahead.next <= ahead.last) co_return numbers_from(ahead.next++, 1);
    asked += ahead.expected();
  }
  CommandBatch batch;
  batch.add("INCRBY", sql::TableKeys(table).row_counter(), asked);
  RepliesPtr replies = co_await client.execute(std::move(batch), counters);
  const std::int64_t last = replies->integer(0), first = last - static_cast<std::int64_t>(asked) + 1;
  KeysAhead& ahead = keys_ahead(client, table);
  if (replies->generation() != ahead.generation) co_return numbers_from(first, count);
  // Earlier keys taken ahead are smaller than those of this statement: they are dropped.
  ahead.next = first + static_cast<std::int64_t>(count);
  ahead.last = last;
  co_return numbers_from(first, count);
}

asio::awaitable<std::vector<std::int64_t>> allocate_keys_of(RedisClient& client, const sql::TableDef& table,
                                                            std::span<const std::vector<sql::Datum>> rows, ExecutionCounters* counters) {
  if (!table.partition_key) co_return co_await allocate_row_keys(client, table, rows.size(), counters);
  std::map<sql::Oid, std::pair<std::shared_ptr<const sql::TableDef>, std::vector<std::size_t>>> parts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::shared_ptr<const sql::TableDef>& part = sql::part_of_row(table, rows[i]);
    auto& [stored, numbers] = parts[part->oid];
    stored = part;
    numbers.push_back(i);
  }
  std::vector<std::int64_t> keys(rows.size());
  for (const auto& [oid, part] : parts) {
    const std::vector<std::int64_t> of_part = co_await allocate_row_keys(client, *part.first, part.second.size(), counters);
    for (std::size_t i = 0; i < of_part.size(); ++i) keys[part.second[i]] = of_part[i];
  }
  co_return keys;
}

}  // namespace redquel::executor
