#pragma once

#include <boost/asio/any_io_executor.hpp>
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
///
/// Each bucket numbers the commits that it applies. The reads of a statement belong together if, behind them, each bucket has no record of a
/// prepared commit, and the number that this thread had seen there when the reads began. These commands travel in the write of the reads; only a
/// new number or a record costs another round trip.
class SeenCommits {
 public:
  using TablePtr = std::shared_ptr<const sql::TableDef>;

  SeenCommits() = default;
  /// `tables`: those that are read.
  explicit SeenCommits(const std::vector<TablePtr>& tables);
  /// `tags`: those of the buckets that are read; `tables`: whose commits count.
  SeenCommits(std::vector<std::string> tags, std::set<sql::Oid> tables);

  /// Returns true if the tables lie in several buckets.
  bool are_possible() const { return tags_.size() > 1; }

  /// Begins a run of the statement: its reads go by `client`. The executor is that of the thread's event loop. With `looks_once` the commands behind
  /// the reads are sent behind those of one turn of the event loop; otherwise are_torn() sends them. `more`: commands that precede the reads, too.
  void begin(RedisClient& client, asio::any_io_executor executor, bool looks_once, CommandBatch more = {});
  /// Called before each read. Sends the commands that precede the first one. `by_client`: the read goes by the client of begin().
  void note_read(bool by_client);
  /// Called behind each read. A read that was sent again may have followed the commands behind it.
  void note_answer(std::uint64_t round_trips);
  /// Sends the commands that precede the reads, and waits for their replies: reads by other connections may follow.
  asio::awaitable<void> take_numbers();
  /// After take_numbers(): the reply to a command of `more`.
  const Reply& reply_before(std::size_t index) const;

  /// Returns the traffic of the commands around the reads, whose round trip they share.
  ExecutionCounters counters() const;

  /// Behind the reads. Returns true if they may be torn: a commit over their tables was applied since the first one, or is decided and not applied
  /// everywhere. It is brought to its end. Without begin() only the second counts. Throws 57P03 if a bucket cannot be reached.
  asio::awaitable<bool> are_torn(RedisClient& client);

 private:
  struct Round;
  static void look_behind(const std::shared_ptr<Round>& round);
  bool counts(const CommitName& name) const;
  /// Returns true if the commands in the write of the reads show that no commit has come since this thread has looked last.
  asio::awaitable<bool> is_quiet();

  std::vector<std::string> tags_;
  std::set<sql::Oid> tables_;
  std::shared_ptr<Round> round_;  // since begin()
};

/// At the stricter levels: applies commits that the reads of a transaction may have seen in some buckets only. Then counters of changes show
/// them.
asio::awaitable<void> apply_seen_commits(RedisClient& client, const sql::CatalogSnapshot& catalog, const ReadChecks& first, const ReadChecks& second);

}  // namespace redquel::executor
