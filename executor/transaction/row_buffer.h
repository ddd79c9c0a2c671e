#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "executor/storage/row_image.h"
#include "sql/catalog/catalog.h"
#include "sql/datum.h"
#include "sql/session_settings.h"

namespace redquel::executor {

/// One version of a row: values parallel to the table's columns, then the hidden key where the table has one. Null: no row.
using RowValues = std::shared_ptr<const std::vector<sql::Datum>>;

/// A row that a transaction changed.
struct BufferedRow {
  RowValues stored;   // in Redis, as the transaction first saw it
  RowValues current;  // for the transaction
  /// Columns that only grew. Not empty: nothing else changed, the row is not locked, and what counts is the difference.
  std::vector<std::size_t> increments = {};
};

/// The rows of one table that a transaction changed, by member (see RowImage). They stand in front of what Redis holds.
struct TableChanges {
  std::shared_ptr<const sql::TableDef> table;
  std::map<std::string, BufferedRow, std::less<>> rows;

  bool contains(std::string_view member) const { return rows.find(member) != rows.end(); }
};
using TableChangesPtr = std::shared_ptr<const TableChanges>;

/// Row changes of one transaction that are not in Redis yet. A statement that reads keeps the changes of its start
/// (`changes`), whatever comes later.
class RowBuffer {
 public:
  using TablePtr = std::shared_ptr<const sql::TableDef>;

  bool empty() const { return tables_.empty(); }
  /// As they are now; they will not change. Null: there are none.
  TableChangesPtr changes(sql::Oid table) const;
  std::vector<TableChangesPtr> all_changes() const;
  /// Null: the transaction has not changed this row.
  const BufferedRow* find(sql::Oid table, std::string_view member) const;

  using Owners = std::unordered_multimap<std::string, std::string>;  // key, zero byte, field → member
  /// The changed rows that have this unique value for the transaction: more than one where its constraint waits for the commit.
  std::ranges::subrange<Owners::const_iterator> owners(std::string_view uniques_key, std::string_view field) const;
  /// The row that has this unique value in Redis and has it no more for the transaction.
  const std::string* former_owner(std::string_view uniques_key, std::string_view field) const;

  /// Of a set of rows that refer to a value (a foreign key's): members that it has for the transaction and not in Redis, and the
  /// other way round.
  struct References {
    std::set<std::string> arrived, left;
  };
  /// Null: the set is as in Redis.
  const References* references(const std::string& set_key) const;

  void set(const TablePtr& table, const std::string& member, BufferedRow row);

  /// Rows with increments, by table: (table, member).
  std::vector<std::pair<TablePtr, std::string>> increments(const std::set<sql::Oid>& tables) const;

  /// The table has another definition now: its rows take that form. Throws SqlError 23505, 23502 where they cannot, 0A000 for changes
  /// that are not built for rows of an open transaction; then nothing has changed.
  void redefine(const TablePtr& now, const sql::SessionSettings& settings);
  /// The table was dropped or emptied.
  void forget(sql::Oid table);

  /// Savepoints are places in the list of changes.
  std::size_t mark() const { return undo_.size(); }
  void roll_back(std::size_t mark);

 private:
  struct Table {
    std::shared_ptr<TableChanges> changes;
    std::shared_ptr<const RowEncoder> uniques;     // over the unique structures; null: the table has none
    std::shared_ptr<const RowEncoder> references;  // over the sets of its foreign keys; null: the table has none
  };
  struct Undo {
    sql::Oid table;
    std::string member;
    std::optional<BufferedRow> before;  // nullopt: not changed before
    std::optional<Table> whole;         // the table as it was; no single row
  };
  TableChanges& writable(Table& table);
  void replace(Table& table, const std::string& member, const std::optional<BufferedRow>& row);
  std::vector<std::string> unique_values(const Table& table, const RowValues& row) const;
  void note_references(const Table& table, const std::string& member, const BufferedRow& row, bool add);
  void note_owners(const Table& table, const std::string& member, const BufferedRow& row, bool add);
  void replace_table(sql::Oid oid, Table table);

  std::map<sql::Oid, Table> tables_;
  std::vector<Undo> undo_;
  Owners owners_, former_owners_;
  std::unordered_map<std::string, References> references_;
};

}  // namespace redquel::executor
