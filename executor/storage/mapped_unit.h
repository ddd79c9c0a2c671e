#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/redis/redis_user.h"
#include "executor/storage/mapped_script.h"
#include "executor/storage/write_unit.h"
#include "sql/catalog/catalog.h"
#include "sql/datum.h"

namespace redquel::executor {

/// The change of one row of a mapped table. Rows are parallel to the table's columns.
struct MappedChange {
  std::optional<std::vector<sql::Datum>> before, after;  // absent: inserted, deleted
  std::vector<std::size_t> increments = {};              // positions of columns to which the statement adds
  InsertConflict conflict = {};                          // of an insert
};

/// Returns the text that identifies the row within its table.
std::string mapped_identity(const sql::TableDef& table, std::span<const sql::Datum> row);
/// Returns the columns' values that such a text names; nullopt: it was made of another definition of the table.
std::optional<std::map<std::int16_t, sql::Datum>> values_of_identity(const sql::TableDef& table, std::string_view identity);

/// Values that lookups have or had, with the member that they stand for: what an open transaction has changed of them.
struct MappedLookups {
  std::map<std::string, std::string> taken, released;
};

class MappedRow;

/// The changes that one statement, or the transaction, makes to the rows of a mapped table, with the structures that are declared as
/// maintained. They are applied by one script, which first looks whether everything still is what was read, or not at all.
class MappedUnit {
 public:
  explicit MappedUnit(std::shared_ptr<const sql::TableDef> table);
  ~MappedUnit();

  /// False: the row was changed before. 54000 for more rows than one script should write.
  bool add(MappedChange change);

  const sql::TableDef& table() const { return *table_; }
  const std::shared_ptr<const sql::TableDef>& shared_table() const { return table_; }
  std::size_t size() const { return changes_.size(); }
  /// A column's value in the row, before and after the change, that the statement neither read nor changed.
  void set_unread(std::size_t change, std::size_t position, const sql::Datum& value);
  const std::deque<MappedChange>& changes() const { return changes_; }

  /// Reads what is there now, at the table's database. False: a row is not what the statement has read, or one has come that it should have
  /// met. `before`: of the transaction. Throws 23505, XX001.
  asio::awaitable<bool> read(RedisClient& redis, bool bad_values_are_null, ExecutionCounters* counters, const MappedLookups& before = {});
  /// After `read`: returns true if the insert yielded to an existing row.
  bool was_skipped(std::size_t change) const { return skipped_.contains(change); }
  void skip(std::size_t change) { skipped_.insert(change); }
  /// After `read`: what the script is to do. `database`: of the table.
  void append_writes(MappedWriteCall& call, int database) const;
  /// The row lock that a change of a row that is there needs.
  LockMode lock_of(const MappedChange& change) const;

 private:
  std::shared_ptr<const sql::TableDef> table_;
  std::deque<MappedChange> changes_;
  std::vector<std::unique_ptr<MappedRow>> rows_;  // parallel, once they are read; null: skipped
  std::set<std::size_t> skipped_;
  std::set<std::string> changed_;  // identities of rows that are updated or deleted
};

struct MappedWriteResult {
  WriteStatus status;
  LockConflict blocker;  // of kLocked
};
/// Writes units that were read, all or nothing, in one script. In a cluster a look at version and locks comes first, so a lock that another
/// session takes between the two does not hold the write up. kApplied, kStale, kLocked, kLostLock, or kConflict where something changed
/// since. XX001 for keys of the wrong type.
asio::awaitable<MappedWriteResult> write_mapped(RedisClient& redis, MappedWriteCall call, ExecutionCounters* counters);
/// Like write_mapped(), as another Redis user, who may not read redquel's own keys. `database`: the session's logical one. Throws 42501 if
/// the user may not run one of the commands, 08001 for a refused login; then nothing was written.
asio::awaitable<MappedWriteResult> write_mapped_as(RedisUserPtr user, int database, MappedWriteCall call, ExecutionCounters* counters);
/// Returns the meaning of the step that has stopped such a program; throws XX001 for a key of another type.
MappedWriteResult stopped_mapped_write(const WriteProgram& program, std::span<const Reply> answer);

}  // namespace redquel::executor
