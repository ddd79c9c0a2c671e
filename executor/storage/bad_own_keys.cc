#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "executor/storage/bad_keys.h"
#include "executor/storage/locks.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/stored_keys.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// The repair of a key of another type.
enum class Repair {
  kDelete,   // what it said is lost, and is made anew
  kRestore,  // nothing else has what it said
};

struct OwnKey {
  std::string_view name, type;
  Repair repair;
};

constexpr std::size_t kOwnKeysTogether = 1000;

/// Keys of a database. Those of a cluster's buckets have a tag in front.
constexpr std::array<OwnKey, 17> kKeys = {{
    {sql::kFormatKey, "string", Repair::kRestore},
    {sql::kVersionKey, "string", Repair::kDelete},
    {sql::kCatalogKey, "hash", Repair::kRestore},
    {sql::kVersionsKey, "hash", Repair::kRestore},
    {sql::kPrefixesKey, "hash", Repair::kRestore},
    {sql::kRemovalsKey, "hash", Repair::kDelete},
    {sql::kExclusiveKey, "hash", Repair::kDelete},
    {sql::kAdvisoryKey, "hash", Repair::kDelete},
    {sql::kWaitsKey, "hash", Repair::kDelete},
    {sql::kExpiringKey, "set", Repair::kDelete},
    {sql::kSweepKey, "string", Repair::kDelete},
    {sql::kPreparedKey, "hash", Repair::kRestore},
    {sql::kAppliedKey, "zset", Repair::kRestore},
    {sql::kAppliedTimesKey, "zset", Repair::kRestore},
    {sql::kTombstonesKey, "zset", Repair::kRestore},
    {sql::kCommitNumbersKey, "hash", Repair::kRestore},
    {sql::kNoKey, "none", Repair::kDelete},
}};
/// Keys of all databases.
constexpr std::array<OwnKey, 5> kHomeKeys = {{
    {sql::kDatabasesKey, "hash", Repair::kRestore},
    {sql::kRolesKey, "hash", Repair::kRestore},
    {sql::kVerifiersKey, "hash", Repair::kRestore},
    {sql::kMockNonceKey, "string", Repair::kDelete},
    {sql::kExchangeKey, "string", Repair::kDelete},
}};

/// A key to look at, with its whole name.
using AskedKey = std::pair<std::string, OwnKey>;

SqlError wrong_own_type(const AskedKey& asked, std::string_view type) {
  const auto& [name, key] = asked;
  const std::string needed = key.type == "none" ? std::string("nothing") : fmt::format("a {}", key.type);
  SqlError error(sqlstate::kDataCorrupted,
                 fmt::format("key \"{}\" is a Redis {}, but redquel needs {} there", name, type, needed));
  if (key.repair == Repair::kRestore)
    return std::move(error).hint(fmt::format("Restore the key \"{}\" from a backup of Redis.", name));
  return std::move(error).hint(fmt::format("redis-cli DEL {}: redquel does without the key, or makes it anew.", name));
}

asio::awaitable<std::optional<SqlError>> first_of_wrong_type(RedisClient& client, std::vector<AskedKey> keys) {
  for (std::size_t first = 0; first < keys.size(); first += kOwnKeysTogether) {
    const std::size_t end = std::min(first + kOwnKeysTogether, keys.size());
    CommandBatch batch;
    for (std::size_t i = first; i < end; ++i) batch.add("TYPE", keys[i].first);
    const RepliesPtr replies = co_await client.execute(std::move(batch));
    for (std::size_t i = first; i < end; ++i) {
      const std::string_view type = replies->text(i - first).value_or("none");
      if (type != "none" && type != keys[i].second.type) co_return wrong_own_type(keys[i], type);
    }
  }
  co_return std::nullopt;
}

}  // namespace

asio::awaitable<std::optional<SqlError>> named_bad_own_key(RedisClient& client, RedisClient& home,
                                                           sql::CatalogPtr catalog) {
  std::set<std::string> tags{std::string(sql::home_tag())};
  std::vector<AskedKey> keys;
  std::vector<std::shared_ptr<const sql::TableDef>> tables;
  if (catalog) tables = catalog->managed_tables();
  for (const auto& table : tables) {
    for (const auto& stored : sql::own_stored_tables(table)) {
      tags.emplace(stored->tag());
      keys.push_back({lock_key(*stored), {sql::kLocksPrefix, "hash", Repair::kDelete}});
    }
  }
  for (const std::string& tag : tags) {
    for (const OwnKey& key : kKeys) keys.push_back({own_key(tag, key.name), key});
  }
  std::optional<SqlError> error = co_await first_of_wrong_type(client, std::move(keys));
  if (error) co_return error;
  std::vector<AskedKey> of_home;
  for (const OwnKey& key : kHomeKeys)
    of_home.emplace_back(key.name == sql::kExchangeKey ? std::string(key.name) : sql::home_key(key.name), key);
  co_return co_await first_of_wrong_type(home, std::move(of_home));
}

}  // namespace redquel::executor
