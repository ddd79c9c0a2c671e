#include "executor/storage/version_copies.h"

#include <set>

#include "executor/redis/script.h"
#include "executor/runtime/random_version.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/placed_table.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Tables of a cluster are spread over 64 buckets.
constexpr int kPlacementStep = 16;

}  // namespace

const std::vector<int>& placement_buckets() {
  static const std::vector<int> kBuckets = [] {
    std::vector<int> buckets;
    for (int bucket = sql::kHomeBucket; bucket < sql::kBucketLimit; bucket += kPlacementStep) buckets.push_back(bucket);
    return buckets;
  }();
  return kBuckets;
}

const std::vector<std::string>& placement_tags() {
  static const std::vector<std::string> kTags = [] {
    std::vector<std::string> tags;
    for (const int bucket : placement_buckets()) tags.emplace_back(sql::bucket_tag(bucket));
    return tags;
  }();
  static const std::vector<std::string> kNoTag{std::string()};
  return sql::uses_cluster() ? kTags : kNoTag;
}

std::vector<std::string> tags_in_use(const sql::CatalogSnapshot& catalog) {
  if (!sql::uses_cluster()) return {std::string()};
  std::set<std::string, std::less<>> tags{std::string(sql::home_tag())};
  for (const auto& [oid, table] : catalog.tables) {
    for (const auto& stored : sql::stored_tables(table)) {
      if (const std::string_view tag = stored->tag(); !tags.contains(tag)) tags.emplace(tag);
    }
  }
  for (const auto& [oid, sequence] : catalog.sequences) {
    if (sequence.foreign) continue;
    if (const std::string_view tag = sql::tag_of(sequence.key); !tags.contains(tag)) tags.emplace(tag);
  }
  return {tags.begin(), tags.end()};
}

asio::awaitable<void> publish_version(RedisClient& client) {
  constexpr int kAttempts = 100;  // others publish at the same time
  if (!sql::uses_cluster()) co_return;
  const std::vector<std::string>& tags = placement_tags();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    CommandBatch look;
    for (const std::string& tag : tags) look.add("GET", own_key(tag, sql::kVersionKey));
    const RepliesPtr copies = co_await client.execute(std::move(look));
    copies->or_throw();
    const std::string version(copies->text(0).value_or(""));
    CommandBatch batch;
    for (std::size_t index = 1; index < tags.size(); ++index) {
      const std::string copy(copies->text(index).value_or(""));
      if (copy == version) continue;
      // A copy that has changed meanwhile stays: it may be newer.
      const std::vector<std::string> keys{own_key(tags[index], sql::kVersionKey)}, arguments{copy, version};
      kReplaceVersionScript.append_call(batch, keys, arguments);
    }
    if (batch.empty()) co_return;
    std::vector<const Script*> scripts{&kReplaceVersionScript};
    const RepliesPtr replaced = co_await run_scripts(client, std::move(scripts), std::move(batch));
    replaced->or_throw();
  }
  throw sql::SqlError(sqlstate::kSerializationFailure, "could not publish a change of definitions: others publish changes all the time");
}

asio::awaitable<void> renew_version(RedisClient& client) {
  if (!sql::uses_cluster()) co_return;
  CommandBatch batch;
  batch.add("SET", sql::home_key(sql::kVersionKey), random_version());
  const RepliesPtr replies = co_await client.execute(std::move(batch));
  replies->or_throw();
  co_await publish_version(client);
}

}  // namespace redquel::executor
