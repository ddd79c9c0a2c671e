#include "executor/discovery/keyspace_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iterator>

#include "executor/redis/redis_error.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/storage/catalog_store.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/key_pattern.h"
#include "sql/catalog/stored_keys.h"
#include "sql/types/byte_text.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kScanCount = 1000;     // about 0.3 ms of Redis
constexpr std::size_t kKeysPerTrip = 100;    // that one pipeline asks about
constexpr std::size_t kCommandsOfKey = 5;    // about
constexpr std::size_t kElements = 20;        // of a set, zset or list
constexpr std::size_t kFields = 64;          // of a hash
constexpr std::size_t kEntries = 10;         // of a stream
constexpr std::size_t kValueBytes = 4096;    // of a string
constexpr std::size_t kLargeKey = 1 << 20;  // bytes of a key whose elements are measured before they are read
constexpr const char* kLargeValue = "(a large value)";  // stands for one that is not read

/// Keys that are redquel's, by what they begin with, in a cluster behind the tag of their bucket.
class OwnKeys {
 public:
  explicit OwnKeys(const sql::CatalogSnapshot& catalog) : prefixes_{"redquel", "\xff" "redquel"} {  // the latter: of fences, see executor/memory/
    for (const auto& [oid, table] : catalog.tables) {
      const std::string_view prefix = without_bucket(table->prefix);
      if (!prefix.empty() && prefix.find('{') == std::string_view::npos) prefixes_.emplace_back(prefix);
    }
    for (const auto& [oid, sequence] : catalog.sequences) prefixes_.emplace_back(without_bucket(sequence.key));
    std::ranges::sort(prefixes_);
  }

  bool has(std::string_view key) const {
    key = without_bucket(key);
    for (std::size_t end = key.find(':'); true; end = key.find(':', end + 1)) {
      if (std::ranges::binary_search(prefixes_, key.substr(0, end))) return true;
      if (end == std::string_view::npos) return false;
    }
  }

 private:
  static std::string_view without_bucket(std::string_view key) {
    const std::string_view tag = sql::uses_cluster() ? sql::tag_of(key) : std::string_view();
    return !tag.empty() && tag == sql::bucket_tag(sql::bucket_of(key)) ? key.substr(tag.size()) : key;
  }

  std::vector<std::string> prefixes_;
};

asio::awaitable<RepliesPtr> ask(RedisClient& client, CommandBatch batch) {
  RepliesPtr replies = co_await client.execute(std::move(batch));
  co_return replies;
}

asio::awaitable<std::size_t> count_keys(RedisClient& client) {
  CommandBatch batch;
  batch.add("DBSIZE");
  const RepliesPtr replies = co_await ask(client, std::move(batch));
  co_return static_cast<std::size_t>(std::max<std::int64_t>(replies->integer(0), 0));
}

/// Adds keys of too many forms. Structures are rare among them, and hold more than strings.
asio::awaitable<void> add_beyond(RedisClient& client, std::span<const std::string> keys, sql::KeyShapes& shapes) {
  CommandBatch types;
  for (const std::string& key : keys) types.add("TYPE", key);
  const RepliesPtr replies = co_await ask(client, std::move(types));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Reply& type = (*replies)[i];
    shapes.add_beyond(keys[i], !type.is_error() && type.text != "string" && type.text != "none");
  }
}

/// The forms of the listed keys, and how many keys were walked over, of how many.
struct Listing {
  sql::KeyShapes shapes;
  std::size_t walked = 0, all = 0;
};

asio::awaitable<Listing> list_keys(RedisClient& client, const DiscoveryOptions& options, const OwnKeys& own) {
  Listing listing{.shapes = sql::KeyShapes(options.sample)};
  sql::KeyShapes& shapes = listing.shapes;
  const bool is_glob = options.pattern.find_first_of("*?[") != std::string::npos;
  const std::string glob = is_glob ? options.pattern : options.pattern + "*";
  std::string cursor = "0";
  if (options.report) listing.all = co_await count_keys(client);
  EventLoopTurn turn;
  do {
    CommandBatch batch;
    const std::size_t count = options.step ? options.step() : kScanCount;
    if (glob == "*") batch.add("SCAN", cursor, "COUNT", count);
    else batch.add("SCAN", cursor, "MATCH", glob, "COUNT", count);
    const RepliesPtr replies = co_await ask(client, std::move(batch));
    const std::span<const Reply> parts = replies->array(0);
    if (parts.size() != 2 || !parts[0].is_text()) throw unexpected_reply("SCAN", "a cursor and keys");
    cursor = parts[0].text;
    std::vector<std::string> beyond;
    for (const Reply& key : parts[1].children()) {
      if (!own.has(key.text) && !shapes.add(key.text)) beyond.emplace_back(key.text);
    }
    if (!beyond.empty()) co_await add_beyond(client, beyond, shapes);
    listing.walked = std::min(listing.walked + count, listing.all);
    if (options.report) options.report(listing.walked, listing.all, false);
    if (turn.is_over()) co_await turn.yield();
  } while (cursor != "0" && shapes.keys() < options.max_keys);
  if (cursor == "0") listing.walked = listing.all;
  co_return listing;
}

/// A key and how it is read.
struct Reading {
  sql::KeySample& sample;
  bool is_large = false;  // values may be, too: only their sizes are asked for
};

/// Takes the begin of a last character away that the end of a read has cut.
std::string_view whole_characters(std::string_view text) {
  constexpr std::size_t kMostCut = 3;
  for (std::size_t cut = 0; cut <= std::min(kMostCut, text.size()); ++cut) {
    const std::string_view shorter = text.substr(0, text.size() - cut);
    if (sql::is_valid_utf8(shorter)) return shorter;
  }
  return text;
}

/// Adds the two commands that read some of one key.
void append_reads(CommandBatch& batch, const Reading& reading) {
  const sql::KeySample& sample = reading.sample;
  if (sample.type == "hash" && reading.is_large) batch.add("HLEN", sample.key).add("HRANDFIELD", sample.key, kFields);
  else if (sample.type == "hash") batch.add("HLEN", sample.key).add("HRANDFIELD", sample.key, kFields, "WITHVALUES");
  else if (sample.type == "string") batch.add("STRLEN", sample.key).add("GETRANGE", sample.key, 0, kValueBytes - 1);
  else if (sample.type == "set" && !reading.is_large) batch.add("SCARD", sample.key).add("SRANDMEMBER", sample.key, kElements);
  else if (sample.type == "zset" && !reading.is_large) batch.add("ZCARD", sample.key).add("ZRANGE", sample.key, 0, kElements - 1, "WITHSCORES");
  else if (sample.type == "list" && !reading.is_large) batch.add("LLEN", sample.key).add("LRANGE", sample.key, 0, kElements - 1);
  else if (sample.type == "stream" && !reading.is_large) batch.add("XLEN", sample.key).add("XRANGE", sample.key, "-", "+", "COUNT", kEntries);
  else if (sample.type == "stream") batch.add("XLEN", sample.key).add("EXISTS", sample.key);
  else batch.add("EXISTS", sample.key).add("EXISTS", sample.key);
}

void add_pairs(std::span<const Reply> words, sql::KeySample& sample) {
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) sample.parts.emplace_back(words[i].text, words[i + 1].text);
}

void add_entries(const Reply& entries, sql::KeySample& sample) {
  for (const Reply& entry : entries.children()) {
    if (entry.children().size() == 2) add_pairs(entry.children()[1].children(), sample);
  }
}

/// Reads some entries of large streams: of those whose entries are small on average.
asio::awaitable<void> read_entries(RedisClient& client, std::span<const std::pair<sql::KeySample*, std::size_t>> streams) {
  CommandBatch batch;
  std::vector<sql::KeySample*> wanted;
  for (const auto& [sample, length] : streams) {
    if (sample->bytes / length > kValueBytes) continue;
    batch.add("XRANGE", sample->key, "-", "+", "COUNT", kEntries);
    wanted.push_back(sample);
  }
  const RepliesPtr replies = co_await ask(client, std::move(batch));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!(*replies)[i].is_error()) add_entries((*replies)[i], *wanted[i]);
  }
}

/// Reads the values of fields of large hashes that are small themselves.
asio::awaitable<void> read_fields(RedisClient& client, std::span<const Reading> readings) {
  CommandBatch sizes;
  for (const Reading& reading : readings) {
    for (const auto& [name, value] : reading.sample.parts) sizes.add("HSTRLEN", reading.sample.key, name);
  }
  const RepliesPtr lengths = co_await ask(client, std::move(sizes));
  CommandBatch values;
  std::vector<std::string*> wanted;
  std::size_t next = 0;
  for (const Reading& reading : readings) {
    for (auto& [name, value] : reading.sample.parts) {
      const Reply& length = (*lengths)[next++];
      value = kLargeValue;
      if (length.kind != Reply::Kind::integer || length.integer > static_cast<std::int64_t>(kValueBytes)) continue;
      values.add("HGET", reading.sample.key, name);
      wanted.push_back(&value);
    }
  }
  const RepliesPtr replies = co_await ask(client, std::move(values));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if ((*replies)[i].is_text()) *wanted[i] = (*replies)[i].text;
  }
}

/// False: the key has changed its type since, or is gone.
bool take_replies(const Reply& size, const Reply& parts, const Reading& reading) {
  sql::KeySample& sample = reading.sample;
  if (size.is_error() || parts.is_error() || size.kind != Reply::Kind::integer || size.integer <= 0) return false;
  if (reading.is_large && sample.type == "hash") {
    for (const Reply& name : parts.children()) sample.parts.emplace_back(name.text, "");
    sample.is_whole = static_cast<std::size_t>(size.integer) <= sample.parts.size();
    return true;
  }
  if (reading.is_large && sample.type != "string") {
    if (sample.type != "stream") sample.parts.emplace_back(kLargeValue, sample.type == "zset" ? "0.5" : "");
    sample.is_whole = false;
    return true;
  }
  if (sample.type == "string") {
    sample.is_whole = static_cast<std::size_t>(size.integer) <= kValueBytes;
    sample.parts.emplace_back("", sample.is_whole ? parts.text : whole_characters(parts.text));
    return true;
  }
  const std::span<const Reply> words = parts.children();
  if (sample.type == "hash" || sample.type == "zset") {
    add_pairs(words, sample);
  } else if (sample.type == "stream") {
    add_entries(parts, sample);
  } else {
    for (const Reply& element : words) sample.parts.emplace_back(element.text, "");
  }
  sample.is_whole = sample.type == "stream" || static_cast<std::size_t>(size.integer) <= sample.parts.size();
  return true;
}

/// The Redis user may be kept to other keys.
bool is_hidden(const Reply& reply) { return reply.is_error() && reply.text.starts_with("NOPERM"); }

asio::awaitable<void> read_keys(RedisClient& client, std::span<sql::KeySample> samples, std::vector<bool>& found) {
  constexpr std::size_t kQuestions = 3;
  CommandBatch types;
  for (const sql::KeySample& sample : samples) types.add("TYPE", sample.key).add("PTTL", sample.key).add("MEMORY", "USAGE", sample.key);
  const RepliesPtr known = co_await ask(client, std::move(types));
  CommandBatch reads;
  std::vector<Reading> readings;
  sql::KeySample hidden{.key = std::string(sql::kNoKey), .type = "none"};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Reply &type = (*known)[kQuestions * i], &bytes = (*known)[kQuestions * i + 2];
    if (is_hidden(type)) {
      samples[i].type = "none";
      readings.push_back({samples[i]});
      append_reads(reads, {hidden});
      continue;
    }
    samples[i].type = known->text(kQuestions * i).value_or("none");
    samples[i].expires = known->integer(kQuestions * i + 1) >= 0;
    if (bytes.kind == Reply::Kind::integer) samples[i].bytes = static_cast<std::size_t>(bytes.integer);
    readings.push_back({samples[i], samples[i].bytes > kLargeKey});
    append_reads(reads, readings.back());
  }
  const RepliesPtr replies = co_await ask(client, std::move(reads));
  std::vector<Reading> large;
  std::vector<std::pair<sql::KeySample*, std::size_t>> streams;  // large ones with their lengths
  for (std::size_t i = 0; i < samples.size(); ++i) {
    found.push_back(take_replies((*replies)[2 * i], (*replies)[2 * i + 1], readings[i]));
    if (found.back() && readings[i].is_large && samples[i].type == "hash") large.push_back(readings[i]);
    if (found.back() && readings[i].is_large && samples[i].type == "stream") streams.emplace_back(&samples[i], static_cast<std::size_t>((*replies)[2 * i].integer));
  }
  const std::span<const std::pair<sql::KeySample*, std::size_t>> long_streams = streams;
  if (!streams.empty()) co_await read_entries(client, long_streams);
  const std::span<const Reading> hashes = large;
  if (!hashes.empty()) co_await read_fields(client, hashes);
}

/// Returns the keys of which none is read.
std::vector<sql::LeftOut> unread_keys(const sql::KeyShapes& shapes) {
  std::vector<sql::LeftOut> keys;
  if (shapes.long_keys() > 0) {
    keys.push_back({"*", "", shapes.long_keys(), shapes.long_key() + "…", fmt::format("more than {} bytes", sql::KeyShapes::kMaxKey)});
  }
  for (const auto& [beginning, counted] : shapes.unshaped()) {
    keys.push_back({sql::glob_of_text(beginning) + "*", "string", counted.keys, counted.example, "of more forms than are looked at"});
  }
  return keys;
}

}  // namespace

asio::awaitable<Discovery> discover(RedisClient& client, DiscoveryOptions options) {
  const LoadedCatalog loaded = co_await load_catalog(client);
  const OwnKeys own(*loaded.snapshot);
  Listing listing = co_await list_keys(client, options, own);
  sql::KeyShapes& shapes = listing.shapes;
  Discovery discovery;
  discovery.keys = shapes.keys();
  std::vector<sql::LeftOut> left_out = unread_keys(shapes);
  std::vector<sql::SampledShape> sampled;
  std::vector<sql::KeySample> samples;
  for (sql::KeyShape& shape : shapes.finish()) {
    for (const std::string& key : shape.keys) samples.push_back({.key = key, .type = {}});
    sampled.push_back({std::move(shape), {}});
  }
  std::vector<bool> found;
  for (std::size_t first = 0, count = 0; first < samples.size(); first += count) {
    count = std::min(options.step ? std::max<std::size_t>(options.step() / kCommandsOfKey, 1) : kKeysPerTrip, samples.size() - first);
    const std::span<sql::KeySample> part = std::span(samples).subspan(first, count);
    co_await read_keys(client, part, found);
    if (options.report) options.report(listing.walked, listing.all, true);
  }
  std::size_t next = 0;
  for (sql::SampledShape& shape : sampled) {
    for (std::size_t i = 0; i < shape.shape.keys.size(); ++i, ++next) {
      if (found[next]) shape.keys.push_back(std::move(samples[next]));
    }
  }
  discovery.proposal = sql::propose_tables(std::move(sampled));
  std::ranges::move(left_out, std::back_inserter(discovery.proposal.left_out));
  if (discovery.keys >= options.max_keys) discovery.proposal.notes.push_back(fmt::format("keys beyond the first {} were not looked at", options.max_keys));
  co_return discovery;
}

}  // namespace redquel::executor
