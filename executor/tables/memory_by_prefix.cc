#include "executor/tables/memory_by_prefix.h"
#include "executor/tables/ordinality.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "executor/redis/redis_error.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/tables/redis_rows.h"
#include "executor/tables/scan_budget.h"
#include "sql/catalog/buckets.h"
#include "sql/discovery/key_shapes.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kSamples = 200;       // keys of each prefix that are measured
constexpr std::size_t kMostPrefixes = 2000;  // keys of others count together
constexpr const char* kOthers = "(others)";
constexpr double kDeviations = 1.96;         // half the width of an interval of 95 %

/// Keys that begin alike. The sample is random: the keys with the least hashes.
struct Prefix {
  std::uint64_t keys = 0;
  std::vector<std::pair<std::size_t, std::string>> sample;  // a heap by hash, the greatest first

  void add(std::string_view key) {
    ++keys;
    const std::size_t hash = std::hash<std::string_view>()(key);
    if (sample.size() >= kSamples) {
      if (hash >= sample.front().first) return;
      std::ranges::pop_heap(sample);
      sample.pop_back();
    }
    sample.emplace_back(hash, key);
    std::ranges::push_heap(sample);
  }
};

/// All keys of a prefix, as far as a sample tells.
struct Estimate {
  std::int64_t bytes = 0, bytes_error = 0, without_ttl = 0;
};

/// A number and half the width of its interval of 95 %.
struct Number {
  double value = 0, error = 0;
};

/// Returns how many of all keys have a prefix that `found` of `seen` keys have.
Number keys_of(std::uint64_t found, std::uint64_t seen, std::uint64_t all) {
  if (seen >= all) return {static_cast<double>(found), 0};
  const auto number = static_cast<double>(seen), whole = static_cast<double>(all);
  const double share = static_cast<double>(found) / number;
  return {whole * share, kDeviations * whole * std::sqrt(share * (1 - share) / number * (1 - number / whole))};
}

/// Returns the sum over all keys and half the width of its interval of 95 %.
Estimate estimate_of(const Number& keys, std::span<const double> bytes, std::size_t without_ttl) {
  const auto count = static_cast<double>(bytes.size()), all = keys.value;
  if (bytes.empty()) return {};
  double sum = 0, squares = 0;
  for (const double one : bytes) sum += one;
  const double mean = sum / count;
  for (const double one : bytes) squares += (one - mean) * (one - mean);
  const double variance = bytes.size() > 1 ? squares / (count - 1) : 0;
  const double unseen = std::max(1 - count / all, 0.0);
  const double error = std::hypot(kDeviations * all * std::sqrt(variance * unseen / count), mean * keys.error);
  return {std::llround(mean * all), std::llround(error), std::llround(all * static_cast<double>(without_ttl) / count)};
}

/// Returns the first words of a key; `*` stands for a value, and ends them.
std::string prefix_of(std::string_view key, std::size_t depth) {
  std::vector<std::string> values;
  sql::KeyPieces pieces = sql::split_key(key, values);
  const auto value = std::ranges::find(pieces, true, &sql::KeyPiece::is_slot);
  const std::size_t words = std::min<std::size_t>(depth, static_cast<std::size_t>(value - pieces.begin()));
  std::string prefix;
  for (std::size_t i = 0; i < words; ++i) prefix += pieces[i].separator + (pieces[i].kind == sql::PieceKind::kJavaHead ? "" : pieces[i].text);
  if (words == pieces.size()) return prefix;
  return prefix + pieces[words].separator + "*";
}

/// Returns the cursor of SCAN at a place of the keyspace between 0 and 1. Redis walks the buckets of its hash table in the order of their reversed bits.
std::string cursor_at(double place) {
  constexpr int kBits = 64;
  const auto position = static_cast<std::uint64_t>(std::ldexp(place, kBits - 1)) << 1;
  std::uint64_t cursor = 0;
  for (int bit = 0; bit < kBits; ++bit) cursor |= (position >> bit & 1) << (kBits - 1 - bit);
  return std::to_string(cursor);
}

class MemoryByPrefix final : public Operator {
 public:
  MemoryByPrefix(const planner::PhysicalFunctionScan& plan, ExecutionContext& context) : plan_(plan), context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (std::exchange(is_done_, true)) co_return std::nullopt;
    const sql::Datum depth = sql::evaluate_scalar(*plan_.calls[0].arguments[0], context_.evaluation());
    if (sql::is_null(depth)) co_return std::nullopt;
    const std::int32_t words = std::get<std::int32_t>(depth);
    if (words < 1 || words > 8) throw sql::SqlError(sqlstate::kInvalidParameterValue, "depth must be between 1 and 8");
    depth_ = static_cast<std::size_t>(words);
    if (plan_.calls[0].arguments.size() == 1) {
      co_await walk_all();
    } else {
      const sql::Datum percent = sql::evaluate_scalar(*plan_.calls[0].arguments[1], context_.evaluation());
      if (sql::is_null(percent)) co_return std::nullopt;
      co_await walk_some(std::get<double>(percent));
    }
    for (std::size_t i = 0; i < kColumns; ++i) columns_.push_back(std::make_shared<sql::Column>(i == 0 ? sql::kText : sql::kInt8));
    for (const auto& [prefix, counted] : prefixes_) co_await measure(prefix, counted);
    sql::Batch batch;
    batch.rows = prefixes_.size();
    if (batch.rows == 0) co_return std::nullopt;
    batch.columns.assign(columns_.begin(), columns_.end());
    if (plan_.with_ordinality) append_ordinality(batch);
    co_return batch;
  }

 private:
  static constexpr std::size_t kColumns = 7;

  asio::awaitable<void> walk_all() {
    EventLoopTurn turn;
    ScanAnnouncement announcement{.what = "the keyspace is scanned", .only_if_long = true};
    co_await announce_scan(context_, std::move(announcement));
    std::string cursor = "0";
    do {
      cursor = co_await step(std::move(cursor));
      if (turn.is_over()) co_await turn.yield();
    } while (cursor != "0");
    all_ = seen_;
  }

  /// Walks over parts of the keyspace in equal distances. Which keys lie there depends on Redis's hash function alone.
  asio::awaitable<void> walk_some(double percent) {
    constexpr double kAll = 100;
    if (!(percent > 0 && percent <= kAll)) throw sql::SqlError(sqlstate::kInvalidParameterValue, "the percentage of the keys must be above 0 and at most 100");
    if (sql::uses_cluster()) throw sql::not_supported("redis.memory_by_prefix() of a percentage of the keys of a Redis Cluster");
    CommandBatch batch;
    batch.add("DBSIZE");
    const RepliesPtr replies = co_await context_.redis().execute(std::move(batch));
    all_ = static_cast<std::uint64_t>(std::max<std::int64_t>(replies->integer(0), 0));
    const double wanted = static_cast<double>(all_) * percent / kAll;
    const auto steps = static_cast<std::size_t>(std::ceil(wanted / static_cast<double>(context_.limits.chunk_rows)));
    if (static_cast<double>(steps * context_.limits.chunk_rows) >= static_cast<double>(all_) / 2) co_return co_await walk_all();  // parts would meet
    EventLoopTurn turn;
    for (std::size_t i = 0; i < steps; ++i) {
      co_await step(cursor_at(static_cast<double>(i) / static_cast<double>(steps)));
      if (turn.is_over()) co_await turn.yield();
    }
    seen_ = std::min(seen_, all_);
  }

  /// Counts the keys of one SCAN by their prefixes. Returns its cursor.
  asio::awaitable<std::string> step(std::string cursor) {
    co_await count_scanned_keys(context_, context_.limits.chunk_rows, "redis.keys with a condition on key reads fewer keys.");
    CommandBatch batch;
    batch.add("SCAN", cursor, "COUNT", context_.limits.chunk_rows);
    const RepliesPtr replies = co_await context_.redis().execute(std::move(batch));
    const std::span<const Reply> parts = replies->array(0);
    if (parts.size() != 2 || !parts[0].is_text()) throw unexpected_reply("SCAN", "a cursor and keys");
    for (const Reply& key : parts[1].children()) {
      std::string prefix = prefix_of(key.text, depth_);
      if (prefixes_.size() >= kMostPrefixes && !prefixes_.contains(prefix)) prefix = kOthers;
      prefixes_[std::move(prefix)].add(key.text);
      ++seen_;
    }
    co_return std::string(parts[0].text);
  }

  asio::awaitable<void> measure(const std::string& prefix, const Prefix& counted) {
    std::vector<double> bytes;
    std::size_t without_ttl = 0;
    const std::size_t step = std::max<std::size_t>(context_.limits.chunk_rows / 2, 1);
    for (std::size_t first = 0; first < counted.sample.size(); first += step) {
      CommandBatch batch;
      const std::size_t end = std::min(first + step, counted.sample.size());
      for (std::size_t i = first; i < end; ++i) batch.add("MEMORY", "USAGE", counted.sample[i].second).add("PTTL", counted.sample[i].second);
      const RepliesPtr replies = co_await context_.redis().execute(std::move(batch));
      for (std::size_t i = 0; i < 2 * (end - first); i += 2) {
        const Reply &used = (*replies)[i], &ttl = (*replies)[i + 1];
        if (used.kind != Reply::Kind::integer || ttl.kind != Reply::Kind::integer) continue;  // gone, or hidden from the Redis user
        bytes.push_back(static_cast<double>(used.integer));
        without_ttl += ttl.integer == -1 ? 1 : 0;
      }
    }
    const Number keys = keys_of(counted.keys, seen_, all_);
    add_row(prefix, keys, estimate_of(keys, bytes, without_ttl), bytes.size());
  }

  void add_row(const std::string& prefix, const Number& keys, const Estimate& estimate, std::size_t sampled) {
    columns_[0]->append<std::string_view>(readable(prefix));
    std::size_t place = 1;
    for (const std::int64_t number : {std::llround(keys.value), static_cast<long long>(estimate.bytes), static_cast<long long>(estimate.bytes_error),
                                      static_cast<long long>(estimate.without_ttl), static_cast<long long>(sampled), std::llround(keys.error)}) {
      columns_[place++]->append(number);
    }
  }

  const planner::PhysicalFunctionScan& plan_;
  ExecutionContext& context_;
  std::map<std::string, Prefix> prefixes_;
  std::size_t depth_ = 1;
  std::uint64_t seen_ = 0, all_ = 0;  // keys
  std::vector<std::shared_ptr<sql::Column>> columns_;
  bool is_done_ = false;
};

}  // namespace

OperatorPtr make_memory_by_prefix(const planner::PhysicalFunctionScan& plan, ExecutionContext& context) {
  return std::make_unique<MemoryByPrefix>(plan, context);
}

}  // namespace redquel::executor
