#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "executor/storage/change_log.h"
#include "executor/storage/row_image.h"
#include "sql/catalog/catalog.h"
#include "sql/datum.h"
#include "sql/session_settings.h"

namespace redquel::executor {

/// The rows of one table that a transaction had changed at some moment, by member (see RowImage). They stand in front of what Redis holds.
/// What the transaction changes later does not show.
struct TableChanges {
  std::shared_ptr<const sql::TableDef> table;
  std::shared_ptr<const ChangeLog> log;
  ChangeLog::Position length = 0;  // of the log, at that moment
  std::size_t size = 0;            // rows

  bool contains(std::string_view member) const { return log->find(member, length).has_value(); }
  /// Null: the transaction has not changed this row.
  ChangeLog::VersionPtr find(std::string_view member) const;

  /// All rows, in the order of their last changes, of which at most a few megabytes are in memory:
  ///
  ///   TableChanges::Walk walk(changes);
  ///   while (const ChangeLog::VersionPtr row = walk.next()) …
  class Walk {
   public:
    /// `changes` outlives it.
    explicit Walk(const TableChanges& changes) : changes_(&changes) {}
    /// Null at the end.
    ChangeLog::VersionPtr next();

   private:
    const TableChanges* changes_;
    ChangeLog::Position position_ = 0;
  };

  template <class Predicate>
  bool any_row(Predicate is_it) const {
    Walk walk(*this);
    while (const ChangeLog::VersionPtr changed = walk.next()) {
      if (is_it(changed->row)) return true;
    }
    return false;
  }
};
using TableChangesPtr = std::shared_ptr<const TableChanges>;

/// Row changes of one transaction that are not in Redis yet. A reading statement keeps the changes of its start (`changes`), regardless of
/// later ones.
class RowBuffer {
 public:
  using TablePtr = std::shared_ptr<const sql::TableDef>;

  bool empty() const { return tables_.empty(); }
  /// Returns the current changes. They stay as they are, unless an earlier savepoint is rolled back to. Null: there are none.
  TableChangesPtr changes(sql::Oid table) const;
  std::vector<TableChangesPtr> all_changes() const;
  std::set<sql::Oid> changed_tables() const;
  /// In tables whose rows are redquel's own.
  std::size_t changed_rows() const;
  /// Nothing: the transaction has not changed this row.
  std::optional<BufferedRow> find(sql::Oid table, std::string_view member) const;

  /// Members of the changed rows that have this unique value for the transaction: more than one where its constraint waits for the commit.
  std::vector<std::string> owners(std::string_view uniques_key, std::string_view field) const;
  /// The row that has this unique value in Redis and has it no more for the transaction.
  std::optional<std::string> former_owner(std::string_view uniques_key, std::string_view field) const;

  /// The changes to a set of rows that refer to a value (a foreign key's): members that only the transaction has, and members that only
  /// Redis has.
  struct References {
    std::set<std::string> arrived, left;
  };
  /// Null: the set is as in Redis.
  const References* references(const std::string& set_key) const;

  void set(const TablePtr& table, const std::string& member, BufferedRow row);

  bool has_increments() const;
  /// Rows with increments, by table: (table, member).
  std::vector<std::pair<TablePtr, std::string>> increments(const std::set<sql::Oid>& tables) const;

  /// The table has another definition now: its rows take that form. Throws SqlError 23505, 23502 where they cannot, 0A000 for changes
  /// that are not built for rows of an open transaction; then nothing has changed.
  void redefine(const TablePtr& now, const sql::SessionSettings& settings);
  /// The table was dropped or emptied.
  void forget(sql::Oid table);

  /// Savepoints are places in the list of changes.
  std::size_t mark() const { return changes_; }
  void roll_back(std::size_t mark);

 private:
  struct Table {
    std::shared_ptr<ChangeLog> log;
    std::shared_ptr<const RowEncoder> uniques;     // over the unique structures; null: the table has none
    std::shared_ptr<const RowEncoder> references;  // over the sets of its foreign keys; null: the table has none
    /// Owners of unique values (key, zero byte, field): newest versions that have them, and those whose rows have them in Redis alone.
    PositionIndex owners, former_owners;
    std::unordered_map<std::string, References> referring;  // by key of the set
    std::set<std::string> growing;                          // members of rows with increments
    mutable TableChangesPtr as_now;                         // of `changes`; null: to be made
  };
  /// Changes that follow each other: versions of rows of one table, or the table as a whole.
  struct Undo {
    sql::Oid table;
    std::size_t versions;
    std::unique_ptr<Table> whole;  // the table as it was; no versions
  };
  static Table make_table(const TablePtr& definition);
  static void append(Table& table, const std::string& member, BufferedRow row);
  static void take_back(Table& table);
  static std::vector<std::string> unique_values(const Table& table, const RowValues& row);
  static void note(Table& table, ChangeLog::Position position, const ChangeLog::Version& version, bool add);
  static void note_references(Table& table, const ChangeLog::Version& version, bool add);
  static void note_owners(Table& table, ChangeLog::Position position, const ChangeLog::Version& version, bool add);
  /// Numbers of the unique structures of `after` that ask more of the rows than those of `before` did.
  static std::vector<std::size_t> stricter_uniques(const Table& before, const Table& after);
  static void check_unique(const Table& table, std::span<const std::size_t> structures, const std::string& member,
                           const std::vector<sql::Datum>& row, const sql::SessionSettings& settings);
  /// Returns true if another changed row of the table has the unique value.
  static bool has_other_owner(const Table& table, const std::string& value, const std::string& member);
  /// Replaces a table's changes as one step of `undo_`.
  void replace_table(sql::Oid oid, Table table);

  std::map<sql::Oid, Table> tables_;
  std::deque<Undo> undo_;
  std::size_t changes_ = 0;  // that `undo_` takes back
};

}  // namespace redquel::executor
