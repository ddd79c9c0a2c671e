#include "executor/storage/seen_commits.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "executor/scripts/scripts.h"
#include "executor/storage/bucket_look.h"
#include "executor/storage/bucket_writes.h"
#include "executor/storage/placed_table.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

SeenCommits::SeenCommits(const std::vector<TablePtr>& tables) {
  if (!sql::uses_cluster()) return;
  for (const TablePtr& table : tables) {
    if (table->is_mapped()) continue;
    const std::string tag(table->tag());
    if (std::ranges::find(tags_, tag) == tags_.end()) tags_.push_back(tag);
    tables_.insert(table->oid);
  }
}

void SeenCommits::append_numbers(CommandBatch& batch) const {
  for (const std::string& tag : tags_) batch.add("HGET", own_key(tag, sql::kCommitNumbersKey), "number");
}

void SeenCommits::take_numbers(const Replies& replies, std::size_t first) {
  numbers_.clear();
  generation_ = replies.generation();
  for (std::size_t index = 0; index < tags_.size(); ++index) {
    const std::string_view text = replies.text(first + index).value_or("0");
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    numbers_.push_back(number);
  }
}

bool SeenCommits::counts(const CommitName& name) const {
  return std::ranges::any_of(name.tables, [this](sql::Oid table) { return tables_.contains(table); });
}

asio::awaitable<void> apply_seen_commits(RedisClient& client, const sql::CatalogSnapshot& catalog, const ReadChecks& first, const ReadChecks& second) {
  std::vector<SeenCommits::TablePtr> tables;
  for (const ReadChecks* reads : {&first, &second}) {
    for (const auto& [oid, checks] : reads->tables()) {
      if (SeenCommits::TablePtr table = catalog.find_table(oid)) tables.push_back(std::move(table));
    }
  }
  const SeenCommits seen(tables);
  if (seen.are_possible()) co_await seen.are_torn(client);
}

asio::awaitable<bool> SeenCommits::are_torn(RedisClient& client) const {
  CommandBatch batch;
  for (std::size_t index = 0; index < tags_.size(); ++index) {
    const std::vector<std::string> keys{own_key(tags_[index], sql::kPreparedKey)}, arguments{numbers_.empty() ? "+inf" : std::to_string(numbers_[index])};
    kLookAtCommitsScript.append_call(batch, keys, arguments);
  }
  std::vector<const Script*> scripts{&kLookAtCommitsScript};
  const RepliesPtr replies = co_await run_scripts(client, std::move(scripts), std::move(batch));
  replies->or_throw();
  // A promoted master counts anew: a later commit may have the number of an earlier one.
  bool is_torn = !numbers_.empty() && replies->generation() != generation_;
  std::map<std::string, std::pair<CommitName, int>> records;  // by text: the name, and a bucket that has the record
  for (std::size_t index = 0; index < tags_.size(); ++index) {
    const BucketLook look = decode_bucket_look((*replies)[index]);
    if (!numbers_.empty()) is_torn = is_torn || look.trimmed > numbers_[index] || look.number < numbers_[index];
    for (const CommitName& name : look.applied) is_torn = is_torn || counts(name);
    for (const CommitName& name : look.records) {
      if (counts(name)) records.try_emplace(name.text, name, sql::bucket_of(tags_[index]));
    }
  }
  for (const auto& [text, seen] : records) {
    if (co_await finish_if_decided(client, seen.first, seen.second)) is_torn = true;
  }
  co_return is_torn;
}

}  // namespace redquel::executor
