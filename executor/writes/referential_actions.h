#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/storage/change_log.h"
#include "executor/storage/foreign_key.h"
#include "executor/storage/row_buffer.h"
#include "executor/storage/write_unit.h"

namespace redquel::executor {

/// The effects of an UPDATE or DELETE on tables that refer to its own: ON DELETE and ON UPDATE CASCADE, SET NULL and SET DEFAULT, over any
/// number of levels. The statement's changes are collected here first, because an action may reach a row that the statement itself
/// changes. Then all of them go into one unit, whose checks see rows that came meanwhile. All but the newest megabytes wait in temporary
/// files (ChangeLog).
class ReferentialActions {
 public:
  using TablePtr = ForeignKey::TablePtr;
  using Row = std::vector<sql::Datum>;

  /// Returns true if a change of the table can cause an action.
  static bool concern(const sql::CatalogSnapshot& catalog, const TablePtr& table);

  /// `over_buffer`: the statement's changes are in the transaction's buffer when the actions run.
  explicit ReferentialActions(ExecutionContext& context, bool over_buffer = false)
      : context_(context), over_buffer_(over_buffer) {}

  /// A change by the statement; without `new_row` it deletes. False: the row was changed before.
  bool add(const TablePtr& table, std::span<const sql::Datum> old_row, std::optional<std::span<const sql::Datum>> new_row);
  /// Takes a new row of the statement's table if it refers to rows of that table by a key whose check waits for the commit, so that an
  /// action of this statement may change it. False: no action does.
  bool insert(const TablePtr& table, std::span<const sql::Datum> row, const InsertConflict& conflict);
  /// Notes when the statement inserted a row that is in the transaction's buffer.
  void note_insert(const TablePtr& table, std::span<const sql::Datum> row);
  /// Finds the rows that refer to what has changed, and what becomes of them. Throws 23502, 23514 of such rows.
  asio::awaitable<void> run(ExecutionCounters* counters);
  /// A row that the statement inserts.
  struct NewRow {
    RowValues row;  // null: an action has deleted it
    InsertConflict conflict;
    bool is_acted_on = false;
  };
  /// The rows that `insert` took, in order.
  const std::vector<NewRow>& new_rows() const { return new_rows_; }
  /// Table by table, each row as it was (`stored`) and as it becomes (`current`).
  std::vector<TableChangesPtr> changes() const;
  /// Gives what the actions made of rows, as differences to what the statement had made of them. `new_row` is null where a row is gone.
  using TakeAction = std::function<void(const TablePtr& table, const RowValues& old_row, const RowValues& new_row)>;
  void for_each_action(const TakeAction& take) const;
  /// An action that a change has caused, whether it has found rows or not.
  struct Caused {
    TablePtr table;  // that the foreign key was declared at
    bool deletes = false;
    std::vector<std::int16_t> columns = {};  // that it sets
    bool operator==(const Caused&) const = default;
  };
  /// Each once, in the order of their causes.
  const std::vector<Caused>& caused() const { return caused_; }
  /// Like changes(), in parts that are checked one by one: each table before those that it refers to. Nullopt if the order of rows may
  /// matter: a change refers to a row that another one brings, takes a value that another one leaves, or tables refer to each other in a
  /// circle.
  std::optional<std::vector<TableChangesPtr>> changes_in_parts() const;

 private:
  /// The changes of one table's rows, version after version: each is an event for the tables that refer to it.
  struct Changed {
    TablePtr table;
    std::shared_ptr<ChangeLog> log;
    ChangeLog::Position by_statement = 0;  // the first so many
    ChangeLog::Position handled = 0;       // events
    bool has_updates = false;              // by the statement
    /// When the statement made the first of a run of changes: (position, order). It made the others one after another.
    std::vector<std::pair<ChangeLog::Position, std::size_t>> orders;
    std::vector<std::size_t>
        orders_of_actions;  // of the changes behind those: when the statement made the change that caused it
  };
  /// A row that other rows may refer to has become another, or none.
  struct Event {
    RowValues before, after;
  };
  /// Rows of a set that an event's foreign key acts on.
  struct Reach {
    ForeignKeyPtr key;
    Event event;
    std::size_t order;  // of the statement's change that caused the event
    std::string set;
  };
  /// A row that may be in a reach's set.
  struct Reached {
    const Reach* reach;
    std::string member;
  };

  Changed& changed(const TablePtr& table);
  static TableChangesPtr changes_of(const Changed& of);
  /// Returns true if the row, which stays, gives up values and takes no others.
  bool only_gives_up(const TablePtr& table, const Row& before, const Row& after);
  const std::vector<ForeignKeyPtr>& keys_to(const TablePtr& table);
  /// Some of the events that are not handled yet, of the table.
  std::vector<Reach> next_reaches(Changed& table);
  void add_reaches(const std::vector<ForeignKeyPtr>& keys, const Event& event, std::size_t order,
                   std::vector<Reach>& reaches);
  static std::size_t order_of(const Changed& of, ChangeLog::Position position);
  bool is_checked(const ForeignKey& key) const;
  /// Notes the sets of references that the row comes into; false: none.
  bool note_new_row(const TablePtr& table, const Row& row, std::size_t number);
  void act_on_new_rows(const Reach& reach);
  asio::awaitable<void> follow(const std::vector<Reach>& reaches, ExecutionCounters* counters);
  /// Rows in the reach's set that Redis does not show there: the transaction has written them, or the statement itself.
  std::vector<Reached> arrived(const Reach& reach);
  bool is_own(const sql::TableDef& table, const ChangeLog::Version& version) const;
  bool was_there(const ForeignKey& key, const std::string& member) const;
  void note_put_rows();
  asio::awaitable<void> follow_large_set(const Reach& reach, ExecutionCounters* counters);
  asio::awaitable<void> act_on(std::vector<Reached> reached, ExecutionCounters* counters);
  Row acted_on(const ForeignKey& key, const Event& event, const Row& row) const;
  sql::Datum default_of(const sql::TableDef& table, std::size_t position) const;
  asio::awaitable<void> complete_rows();
  void complete_new_rows();
  /// The rows with their generated columns. Throws 23502, 23514.
  std::vector<RowValues> completed(const sql::TableDef& table, const std::vector<RowValues>& rows);

  ExecutionContext& context_;
  const bool over_buffer_;
  std::vector<Caused> caused_;
  std::size_t next_order_ = 0;
  std::map<sql::Oid, Changed> changed_;
  std::map<sql::Oid, std::unordered_map<std::string, std::size_t>>
      inserted_;  // over the buffer: by table and member, the order
  std::map<sql::Oid, std::vector<ForeignKeyPtr>> keys_, own_keys_;
  bool only_gives_up_ = true;  // in any order of its parts, a row conflicts with none that is yet to change
  /// A row that the statement has put into a set of references: its order among the statement's changes, and member.
  struct Put {
    std::size_t order;
    std::string member;
  };
  std::optional<std::unordered_map<std::string, std::vector<Put>>> put_;  // by set; filled by the first look
  TablePtr new_rows_table_;
  std::vector<NewRow> new_rows_;
  std::unordered_map<std::string, std::vector<std::size_t>> new_rows_by_set_;  // also of sets that a row has left
  std::vector<Reach> reaches_of_new_rows_;  // set off by what became of them, not followed yet
};

}  // namespace redquel::executor
