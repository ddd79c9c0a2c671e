#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/placed_table.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

namespace asio = boost::asio;

class KeptLease;

// Tables that a journaled unit (journaled_unit.h) has for itself: sql::kExclusiveKey, kUnitLeasePrefix and kJournalPrefix. While a table
// is exclusive its version in `redquel:versions` is the owner's name, and `redquel:version` has moved: readers and writers detect that,
// and wait.

struct ExclusiveTable {
  std::string unit;             // random; names lease and journal
  std::string owner;            // who may write: the unit itself, or who undoes it
  std::string table_version;    // as it was, and will be
  std::string catalog_version;  // likewise, unless definitions change meanwhile
  std::string tag;              // of its bucket
};
using ExclusiveTables = std::map<sql::Oid, ExclusiveTable>;

/// Returns those of the buckets with these tags.
asio::awaitable<ExclusiveTables> load_exclusive_tables(RedisClient& client, std::vector<std::string> tags);

using LockDeadline = std::optional<std::chrono::steady_clock::time_point>;
/// lock_timeout, in milliseconds, from now on; 0: none.
inline LockDeadline lock_deadline(std::int64_t milliseconds) {
  if (milliseconds <= 0) return std::nullopt;
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
}

/// Waits until none of the tables is exclusive. Undoes a unit whose lease has ended. Throws 55P03 past the deadline. Returns true if a table
/// was exclusive: then the definitions should be loaded again.
asio::awaitable<bool> wait_while_exclusive(RedisClient& client, std::vector<PlacedTable> tables, LockDeadline deadline = {});

// ---- the steps of a unit, each one script call -----------------------------------------------------------------------------------

inline constexpr std::size_t kExclusiveLeaseMilliseconds = 30'000;

enum class BeginResult { kBegun, kStale, kBusy };
/// Makes the tables exclusive for the new unit, all or none, bucket by bucket. kStale: a definition is not the given one; kBusy: another unit
/// has one.
asio::awaitable<BeginResult> begin_exclusive(RedisClient& client, const std::string& unit,
                                             std::span<const std::shared_ptr<const sql::TableDef>> tables);
/// Extends the lease in the bucket of the table; false: another owner has taken the tables over.
asio::awaitable<bool> extend_lease(RedisClient& client, const std::string& unit, const std::string& owner, PlacedTable table);
/// Lets the thread's keeper do so until the lease is destroyed. `database`: the logical one. Null: this thread has no keeper.
std::unique_ptr<KeptLease> keep_exclusive(int database, const std::string& unit, const std::string& owner, PlacedTable table);
/// Makes `new_owner` the owner of a unit whose lease is over, in the bucket of the tables; false: it is not.
asio::awaitable<bool> take_over(RedisClient& client, const std::string& unit, const std::string& owner, const std::string& new_owner,
                                const std::vector<PlacedTable>& tables);
/// Gives the tables free, bucket by bucket; what is in Redis stays. False: some are not this owner's any more.
asio::awaitable<bool> end_exclusive(RedisClient& client, const std::string& unit, const std::string& owner,
                                    const std::vector<PlacedTable>& tables);
/// Gives the tables of a unit in several buckets free at one moment: by a commit over these. False: some are not the unit's any more, and
/// all stay as they are. Throws 08007.
asio::awaitable<bool> commit_exclusive(RedisClient& client, std::string unit, std::vector<std::shared_ptr<const sql::TableDef>> tables);

/// Returns the tables by bucket. One Redis: one entry.
std::map<int, std::vector<PlacedTable>> by_bucket(const std::vector<PlacedTable>& tables);

/// Drops the journal's last chunk without undoing it. `table`: one of the unit's.
asio::awaitable<bool> drop_last_chunk(RedisClient& client, const std::string& unit, const std::string& owner, PlacedTable table);

/// `tag`: of the bucket of the unit's tables.
std::string journal_key(std::string_view tag, const std::string& unit);

}  // namespace redquel::executor
