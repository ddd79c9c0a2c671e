#include "executor/storage/version_copies.h"

#include <set>

#include "executor/redis/redis_error.h"
#include "executor/redis/script.h"
#include "executor/runtime/random_version.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/bucket_answers.h"
#include "executor/storage/catalog_marks.h"
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
    for (const auto& stored : sql::own_stored_tables(table)) {
      if (const std::string_view tag = stored->tag(); !tags.contains(tag)) tags.emplace(tag);
    }
  }
  for (const auto& [oid, sequence] : catalog.sequences) {
    if (sequence.foreign) continue;
    if (const std::string_view tag = sql::tag_of(sequence.key); !tags.contains(tag)) tags.emplace(tag);
  }
  return {tags.begin(), tags.end()};
}

namespace {

/// Buckets that have not answered when this thread has published the version.
std::set<std::string>& unanswered_tags() {
  static thread_local std::set<std::string> tags;
  return tags;
}

std::string text_of(const Reply& reply) {
  if (reply.is_error()) throw redis_error(reply.text, "GET");
  return std::string(reply.text);
}

}  // namespace

asio::awaitable<void> publish_version(RedisClient& client) {
  constexpr int kAttempts = 100;  // others publish at the same time
  if (!sql::uses_cluster()) co_return;
  const std::vector<std::string>& tags = placement_tags();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::vector<CommandBatch> looks(tags.size());
    for (std::size_t index = 0; index < tags.size(); ++index) looks[index].add("GET", own_key(tags[index], sql::kVersionKey));
    const BucketAnswers copies = co_await ask_buckets(client, std::move(looks));
    if (!copies.has(0)) {  // it is waited for
      CommandBatch home;
      home.add("GET", own_key(tags[0], sql::kVersionKey));
      const RepliesPtr version = co_await client.execute(std::move(home));
      version->or_throw();
      continue;
    }
    const std::string version = text_of(copies.of(0)[0]);
    std::set<std::string>& unanswered = unanswered_tags();
    unanswered.clear();
    CommandBatch batch;
    for (std::size_t index = 1; index < tags.size(); ++index) {
      if (!copies.has(index)) {
        unanswered.insert(tags[index]);
        continue;
      }
      const std::string copy = text_of(copies.of(index)[0]);
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

asio::awaitable<void> publish_version_to(RedisClient& client, std::string tag) {
  if (!unanswered_tags().contains(tag)) co_return;
  CommandBatch look;
  look.add("GET", own_key(tag, sql::kVersionKey));
  const RepliesPtr copy = co_await client.execute(std::move(look));  // once the bucket answers
  copy->or_throw();
  co_await publish_version(client);
  if (!unanswered_tags().contains(tag)) co_return;
  throw sql::SqlError(sqlstate::kCannotConnectNow, "a bucket of the cluster does not answer").hint("The removal of keys goes on later.");
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
