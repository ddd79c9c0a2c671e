#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "executor/redis/client.h"
#include "executor/runtime/temporary_file.h"
#include "executor/storage/foreign_key.h"
#include "executor/storage/locks.h"
#include "executor/storage/row_buffer.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The conditions on Redis under which a unit breaks no foreign key, apart from those that the unit itself and the transaction's buffer
/// satisfy. The programs check them in the order of these lists.
struct ForeignKeyDemands {
  struct Parent {
    ReferencedPlace place;  // must exist
    const ForeignKey* key;
    const std::vector<sql::Datum>* row;  // that refers to it
    std::size_t change;                  // of that row
  };
  struct Children {
    std::string set;               // must hold no others than `gone`
    std::vector<std::string> gone;
    const ForeignKey* key;
    const std::vector<sql::Datum>* row;  // that is referred to
    bool is_update;                      // its key becomes another
    std::size_t change;                  // of that row
  };
  struct Lock {
    PlacedTable table;
    LockMode mode;
    std::string field;
  };
  std::vector<Parent> parents;
  std::vector<Children> children;
  std::vector<ForeignKey::TablePtr> tables;  // whose definitions this relies on
  std::vector<Lock> locks;
  std::optional<sql::SqlError> violation;  // seen without asking Redis

  bool empty() const { return parents.empty() && children.empty() && tables.empty() && locks.empty() && !violation; }
  /// Leaves what is looked at in one bucket of a cluster: `references`: children of foreign keys over two buckets, otherwise all but these.
  void keep_part(int bucket, bool references);
};

/// Foreign keys whose tables lie in two buckets of a cluster cannot be checked by the script that writes.
enum class ForeignKeyScope { kAll, kWithinBuckets, kOverBuckets };

/// The foreign keys that one statement, or one commit, must leave intact: noted row by row, then turned into demands that hold for the
/// state after all rows. (PostgreSQL checks at the end of the statement, too; RESTRICT differs from NO ACTION only in that it cannot
/// be deferred.)
class ForeignKeyChecks {
 public:
  using TablePtr = ForeignKey::TablePtr;
  using Row = std::span<const sql::Datum>;
  /// Constraints whose checks wait for the commit.
  using IsDeferred = std::function<bool(const sql::ForeignKeyDef&)>;

  ForeignKeyChecks(sql::CatalogPtr catalog, sql::SessionSettings settings, IsDeferred is_deferred = {});

  /// Call it before the first row.
  void set_scope(ForeignKeyScope scope) { scope_ = scope; }
  const sql::CatalogPtr& catalog() const { return catalog_; }

  /// A row as it was and as it will be; an empty span: it was, or will be, not there. `change`: its number in the unit.
  /// `may_give_way`: it is an insert with ON CONFLICT.
  void add(const TablePtr& table, std::size_t change, Row before, Row after, bool may_give_way = false);

  /// `is_active`: returns false if the change of that number yielded to an existing row (ON CONFLICT).
  using IsActive = std::function<bool(std::size_t)>;
  ForeignKeyDemands demands(const RowBuffer* buffer, const IsActive& is_active, const sql::SessionSettings& settings) const;

  /// The rows are those of a journaled unit: demands() is not used, and the rows to check once they are in Redis may wait in a temporary
  /// file. Call it before or after the first of them. `exclusive`: tables that the unit has for itself although it writes none of their rows.
  void expect_written(std::set<sql::Oid> exclusive = {});
  /// For a journaled unit, whose rows are in Redis: throws 23503 where they break a foreign key. False: a table that the checks rely on has
  /// another definition.
  asio::awaitable<bool> verify_written(RedisClient& redis, sql::SessionSettings settings, ExecutionCounters* counters);

 private:
  struct Need {
    std::optional<ReferencedPlace> place;  // nullopt: there can be none
    std::string lock;
    const ForeignKey* key;
    std::size_t change;
    std::vector<sql::Datum> row;
    bool may_give_way = false;
  };
  struct Release {
    std::size_t change;
    const ForeignKey* key;
    std::vector<sql::Datum> row;
    bool is_update;
  };
  struct TableKeys {
    std::vector<ForeignKeyPtr> own, to_it;
  };
  const TableKeys& keys_of(const TablePtr& table);
  void need(const ForeignKey& key, std::size_t change, Row before, Row after, bool may_give_way);
  void release(const ForeignKey& key, std::size_t change, Row before, Row after);
  bool is_deferred(const ForeignKey& key) const;
  bool is_deferred(const Release& release) const { return is_deferred(*release.key) && !release.key->restricts(release.is_update); }
  const ForeignKey& known_key(sql::Oid oid, sql::Oid referencing, sql::Oid referenced) const;
  void put_aside_written();
  void order_by_bucket();
  void take_up_written(const std::string& block);
  asio::awaitable<bool> verify_noted(RedisClient& redis, const sql::SessionSettings& settings, ExecutionCounters* counters) const;
  static asio::awaitable<bool> has_given_way(RedisClient& redis, const Need& need, ExecutionCounters* counters);

  asio::awaitable<void> verify_released(RedisClient& redis, const std::vector<const Release*>& releases, const sql::SessionSettings& settings,
                                        ExecutionCounters* counters) const;
  bool is_in_scope(const ForeignKey& key) const;

  sql::CatalogPtr catalog_;
  sql::SessionSettings settings_;
  IsDeferred is_deferred_;
  ForeignKeyScope scope_ = ForeignKeyScope::kAll;
  std::map<sql::Oid, TableKeys> tables_;
  std::vector<Need> needs_;
  std::set<std::string> needed_;  // constraint and place
  std::unordered_map<std::string, Release> releases_;   // by constraint and place
  std::vector<std::string> release_order_;
  std::unordered_map<std::string, std::string> given_up_;  // one of the releases, by constraint and place
  std::unordered_map<std::string, std::vector<std::size_t>> provided_;  // place → changes
  std::unordered_map<std::string, std::set<std::string>> leaving_;      // set of references → members
  std::unordered_map<std::string, std::vector<std::size_t>> staying_;   // set of references → changes that stay there as other members

  bool is_written_ = false;
  std::set<sql::Oid> exclusive_;
  std::shared_ptr<SpillFile> file_;
  std::vector<SpillFile::Block> written_;  // needs and releases that were noted before
};

}  // namespace redquel::executor
