#pragma once

#include <boost/asio/awaitable.hpp>
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

/// The changes that one statement makes to the rows of a mapped table, with the structures that are declared as maintained. They are
/// applied by one script, which first looks whether everything still is what the statement has read, or not at all.
class MappedUnit {
 public:
  explicit MappedUnit(std::shared_ptr<const sql::TableDef> table) : table_(std::move(table)) {}

  /// False: the row was changed before. 54000 for more rows than one script should write.
  bool add(MappedChange change);

  /// kConflict, kStale or kApplied. 23505 for a row or a lookup that is there already, XX001 for keys of the wrong type, 22023 for values
  /// that cannot stand where they belong.
  asio::awaitable<WriteStatus> execute(RedisClient& redis, std::string catalog_version, bool bad_values_are_null, ExecutionCounters* counters);

 private:
  std::shared_ptr<const sql::TableDef> table_;
  std::vector<MappedChange> changes_;
  std::set<std::string> changed_;  // identities of rows that are updated or deleted
};

}  // namespace redquel::executor
