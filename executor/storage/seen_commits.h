#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/commit_name.h"
#include "executor/storage/read_checks.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The commits over several buckets that the reads of a statement may have met. A commit is applied in one bucket after the other: reads that
/// have seen it in one and not in another must be done again. tests/model/README.md has the proof.
class SeenCommits {
 public:
  using TablePtr = std::shared_ptr<const sql::TableDef>;

  SeenCommits() = default;
  /// `tables`: those that are read.
  explicit SeenCommits(const std::vector<TablePtr>& tables);

  /// Returns true if the tables lie in several buckets.
  bool are_possible() const { return tags_.size() > 1; }

  /// Adds commands that read the numbers of the last commits, before anything is read. `take_numbers` reads their replies, from `first` on.
  void append_numbers(CommandBatch& batch) const;
  void take_numbers(const Replies& replies, std::size_t first);

  /// Behind the reads. Returns true if they may be torn: a commit over their tables was applied since, or is decided and not applied
  /// everywhere. It is brought to its end. Without numbers only the second counts. Throws 57P03 if a bucket cannot be reached.
  asio::awaitable<bool> are_torn(RedisClient& client) const;

 private:
  bool counts(const CommitName& name) const;

  std::vector<std::string> tags_;
  std::set<sql::Oid> tables_;
  std::vector<std::int64_t> numbers_;  // of the last commits, by tag
  std::uint64_t generation_ = 0;       // of the nodes that gave the numbers
};

/// At the stricter levels: applies commits that the reads of a transaction may have seen in some buckets only. Then counters of changes show
/// them.
asio::awaitable<void> apply_seen_commits(RedisClient& client, const sql::CatalogSnapshot& catalog, const ReadChecks& first, const ReadChecks& second);

}  // namespace redquel::executor
