#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/write_unit.h"
#include "sql/catalog/catalog.h"
#include "sql/datum.h"

namespace redquel::executor {

/// The change of one row of a mapped table. Rows are parallel to the table's columns.
struct MappedChange {
  std::optional<std::vector<sql::Datum>> before, after;  // absent: inserted, deleted
  std::vector<std::size_t> increments;                   // positions of columns to which the statement adds
};

class MappedRow;

/// The changes that one statement makes to the rows of a mapped table, with the structures that are declared as maintained. They are
/// applied by one script, which first looks whether everything still is what the statement has read, or not at all.
class MappedUnit {
 public:
  explicit MappedUnit(std::shared_ptr<const sql::TableDef> table);
  ~MappedUnit();

  /// False: the row was changed before. 54000 for more rows than one script should write.
  bool add(MappedChange change);

  const sql::TableDef& table() const { return *table_; }
  std::size_t size() const { return changes_.size(); }
  /// Does it insert a row that the other inserts, too?
  bool meets(const MappedUnit& other) const;

  /// Reads what is there now. False: a row is not what the statement has read. Throws 23505, XX001.
  asio::awaitable<bool> read(RedisClient& redis, bool bad_values_are_null, ExecutionCounters* counters);
  /// Writes units that were read, all or nothing, in one script. kApplied, kStale, or kConflict where something changed since. XX001 for
  /// keys of the wrong type, 22023 for values that cannot stand where they belong.
  static asio::awaitable<WriteStatus> write(RedisClient& redis, std::vector<std::shared_ptr<MappedUnit>> units, std::string catalog_version,
                                            ExecutionCounters* counters);

 private:
  std::shared_ptr<const sql::TableDef> table_;
  std::deque<MappedChange> changes_;
  std::vector<std::unique_ptr<MappedRow>> rows_;  // parallel, once they are read
  std::set<std::string> inserted_;
  std::set<std::string> changed_;  // identities of rows that are updated or deleted
};

}  // namespace redquel::executor
