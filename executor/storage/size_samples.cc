#include "executor/storage/size_samples.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/redis/server_info.h"
#include "executor/storage/databases.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/structure_kind.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"
#include "sql/system_tables/relations.h"

namespace redquel::executor {

using sql::Structure;

namespace {

constexpr std::size_t kSampledRows = 20, kSampledValues = 20, kSampledKeys = 50;
/// Tables that one pipeline asks about.
constexpr std::size_t kTablesPerTrip = 50;
/// Elements of a set, a hash or a zset that MEMORY USAGE looks at.
constexpr std::string_view kElements = "5";

void ask_usage(CommandBatch& batch, std::string_view key) { batch.add("MEMORY", "USAGE", key, "SAMPLES", kElements); }

/// A key that is not there, or whose size Redis does not show, has no bytes.
double usage(const Reply& reply) { return reply.kind == Reply::Kind::integer ? static_cast<double>(reply.integer) : 0; }

/// Estimates the bytes of a group of keys from those of some of them.
class Sample {
 public:
  void ask(CommandBatch& batch, std::size_t population, std::span<const std::string> keys) {
    population_ = population;
    first_ = batch.size();
    count_ = keys.size();
    for (const std::string& key : keys) ask_usage(batch, key);
  }
  double estimate(const Replies& replies) const {
    double bytes = 0;
    for (std::size_t i = 0; i < count_; ++i) bytes += usage(replies[first_ + i]);
    return count_ == 0 ? 0 : bytes / static_cast<double>(count_) * static_cast<double>(population_);
  }

 private:
  std::size_t population_ = 0, first_ = 0, count_ = 0;
};

/// The questions about one structure of a table, in two round trips.
class StructureSample {
 public:
  StructureSample(const sql::TableKeys& keys, const Structure& structure) : keys_(keys), structure_(structure) {}

  void ask_first(CommandBatch& batch) {
    first_ = batch.size();
    ask_usage(batch, key());
    if (!kind().lists_values()) return;
    batch.add("SCARD", key());
    batch.add("SRANDMEMBER", key(), kSampledValues);
  }
  void ask_second(CommandBatch& batch, const Replies& replies) {
    bytes_ = usage(replies[first_]);
    if (!kind().lists_values() || replies[first_ + 1].is_error() || replies[first_ + 2].is_error()) return;
    std::vector<std::string> sets;
    for (const Reply& entry : replies.array(first_ + 2)) {
      try {
        sets.push_back(kind().value_key(keys_, structure_.columns, entry.text));
      } catch (const sql::SqlError&) {  // another program's entry: no value of these columns
      }
    }
    sets_.ask(batch, static_cast<std::size_t>(replies.integer(first_ + 1)), sets);
  }
  double bytes(const Replies& replies) const { return bytes_ + sets_.estimate(replies); }
  const Structure& structure() const { return structure_; }

 private:
  const sql::StructureKind& kind() const { return sql::structure_kind(structure_.kind); }
  std::string key() const { return kind().key(keys_, structure_.columns); }

  const sql::TableKeys& keys_;
  Structure structure_;
  std::size_t first_ = 0;
  double bytes_ = 0;
  Sample sets_;
};

/// The questions about one table: its rows, the zset of all rows (which is the index of its primary key), its other structures.
class TableSample {
 public:
  explicit TableSample(std::shared_ptr<const sql::TableDef> table) : table_(std::move(table)), keys_(*table_) {
    for (const Structure& structure : sql::structures_of(*table_)) structures_.emplace_back(keys_, structure);
  }
  TableSample(const TableSample&) = delete;
  TableSample& operator=(const TableSample&) = delete;

  void ask_first(CommandBatch& batch) {
    first_ = batch.size();
    ask_usage(batch, keys_.all_rows());
    batch.add("ZCARD", keys_.all_rows());
    batch.add("ZRANDMEMBER", keys_.all_rows(), kSampledRows);
    for (StructureSample& structure : structures_) structure.ask_first(batch);
  }
  void ask_second(CommandBatch& batch, const Replies& replies) {
    is_shown_ = !replies[first_].is_error() && !replies[first_ + 1].is_error() && !replies[first_ + 2].is_error();
    if (!is_shown_) return;
    all_rows_ = usage(replies[first_]);
    std::vector<std::string> rows;
    for (const Reply& member : replies.array(first_ + 2)) rows.push_back(keys_.row_of_member(member.text));
    rows_.ask(batch, static_cast<std::size_t>(replies.integer(first_ + 1)), rows);
    for (StructureSample& structure : structures_) structure.ask_second(batch, replies);
  }
  void note(const Replies& replies, sql::RelationSizes& sizes) const {
    if (!is_shown_) return;
    double all = all_rows_;
    for (const StructureSample& structure : structures_) all += structure.bytes(replies);
    sizes.relations[table_->part_of != 0 ? table_->part_of : table_->oid] += std::llround(rows_.estimate(replies));
    sizes.indexes[table_->oid] = std::llround(all);
    if (!table_->primary_key.empty()) sizes.relations[sql::primary_key_index(*table_).oid] += std::llround(all_rows_);
    for (const sql::IndexDef& index : table_->indexes) {
      double bytes = 0;
      for (const Structure& part : sql::structures_of(*table_, index)) {
        for (const StructureSample& structure : structures_) bytes += structure.structure() == part ? structure.bytes(replies) : 0;
      }
      sizes.relations[index.oid] += std::llround(bytes);
    }
  }

 private:
  std::shared_ptr<const sql::TableDef> table_;
  sql::TableKeys keys_;
  std::vector<StructureSample> structures_;
  std::size_t first_ = 0;
  bool is_shown_ = false;
  double all_rows_ = 0;
  Sample rows_;
};

asio::awaitable<void> sample_tables(RedisClient& client, std::span<const std::shared_ptr<const sql::TableDef>> tables, sql::RelationSizes& sizes) {
  std::vector<std::unique_ptr<TableSample>> samples;
  CommandBatch first, second;
  for (const auto& table : tables) {
    samples.push_back(std::make_unique<TableSample>(table));
    samples.back()->ask_first(first);
  }
  const RepliesPtr answers = co_await client.execute(std::move(first));
  for (const auto& sample : samples) sample->ask_second(second, *answers);
  second.add("PING");  // a batch has at least one command
  const RepliesPtr usages = co_await client.execute(std::move(second));
  for (const auto& sample : samples) sample->note(*usages, sizes);
}

/// Returns the bytes of all data, without what Redis needs when it is empty; nullopt: INFO is refused.
std::optional<double> dataset_bytes(const Reply& info) {
  const std::optional<std::uint64_t> bytes = info.is_text() ? info_number(info.text, "used_memory_dataset") : std::nullopt;
  return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
}

/// Estimates the bytes of one logical database; nullopt if Redis does not show them.
asio::awaitable<std::optional<double>> sample_database(RedisClient& client) {
  CommandBatch first, second;
  first.add("DBSIZE");
  for (std::size_t i = 0; i < kSampledKeys; ++i) first.add("RANDOMKEY");
  const RepliesPtr answers = co_await client.execute(std::move(first));
  if ((*answers)[0].is_error() || (*answers)[1].is_error()) co_return std::nullopt;
  std::vector<std::string> keys;
  for (std::size_t i = 1; i <= kSampledKeys; ++i) {
    if ((*answers)[i].is_text()) keys.emplace_back((*answers)[i].text);
  }
  if (keys.empty()) co_return 0;
  Sample sample;
  sample.ask(second, static_cast<std::size_t>(answers->integer(0)), keys);
  const RepliesPtr usages = co_await client.execute(std::move(second));
  if ((*usages)[0].is_error()) co_return std::nullopt;
  co_return sample.estimate(*usages);
}

asio::awaitable<sql::RelationSizes> sample_relations(RedisClient& client, const sql::CatalogSnapshot& catalog) {
  sql::RelationSizes sizes;
  std::vector<std::shared_ptr<const sql::TableDef>> tables;
  for (const auto& table : catalog.managed_tables()) std::ranges::copy(sql::own_stored_tables(table), std::back_inserter(tables));
  for (std::size_t i = 0; i < tables.size(); i += kTablesPerTrip) {
    co_await sample_tables(client, std::span(tables).subspan(i, std::min(kTablesPerTrip, tables.size() - i)), sizes);
  }
  CommandBatch batch;
  std::vector<sql::Oid> sequences;
  for (const auto& [oid, sequence] : catalog.sequences) {
    if (sequence.foreign) continue;
    ask_usage(batch, sequence.key);
    sequences.push_back(oid);
  }
  if (sequences.empty()) co_return sizes;
  const RepliesPtr usages = co_await client.execute(std::move(batch));
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Reply& reply = (*usages)[i];
    if (!reply.is_error()) sizes.relations[sequences[i]] = std::llround(usage(reply));
  }
  co_return sizes;
}

asio::awaitable<std::map<std::string, std::int64_t>> sample_databases(RedisAccess& access, RedisClient& home) {
  std::map<std::string, double> estimates;
  double all = 0;
  const std::vector<std::string> names = co_await list_databases(home);
  for (const std::string& name : names) {
    RedisClient* client = &home;
    if (name != kHomeDatabase) {
      const std::optional<int> number = co_await find_database(home, name);
      if (!number) continue;  // a template without keys, or dropped meanwhile
      client = &access.shared(*number);
    }
    const std::optional<double> bytes = co_await sample_database(*client);
    if (!bytes) continue;
    estimates[name] = *bytes;
    all += *bytes;
  }
  CommandBatch batch;
  batch.add("INFO", "memory");
  const RepliesPtr info = co_await home.execute(std::move(batch));
  const std::optional<double> known = dataset_bytes((*info)[0]);
  const double share = known && all > 0 ? *known / all : 1;
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, bytes] : estimates) sizes[name] = std::llround(bytes * share);
  co_return sizes;
}

}  // namespace

asio::awaitable<sql::RelationSizes> sample_sizes(RedisAccess& access, RedisClient& home, RedisClient& client, const sql::CatalogSnapshot& catalog,
                                                 sql::SizesAsked asked) {
  sql::RelationSizes sizes = co_await sample_relations(client, catalog);
  if (asked == sql::SizesAsked::kRelationsAndDatabases) sizes.databases = co_await sample_databases(access, home);
  co_return sizes;
}

}  // namespace redquel::executor
