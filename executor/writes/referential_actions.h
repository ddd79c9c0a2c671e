#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/execution_context.h"
#include "executor/storage/foreign_key.h"

namespace redquel::executor {

/// What an UPDATE or DELETE brings about in the tables that refer to its own: ON DELETE and ON UPDATE CASCADE, SET NULL and
/// SET DEFAULT, over any number of levels. The statement's changes are collected here first, because an action may meet a row that the
/// statement itself changes; then all of them go into one unit, whose checks see rows that came meanwhile.
class ReferentialActions {
 public:
  using TablePtr = ForeignKey::TablePtr;
  using Row = std::vector<sql::Datum>;

  /// Can a change of the table set off an action?
  static bool concern(const sql::CatalogSnapshot& catalog, const TablePtr& table);

  explicit ReferentialActions(ExecutionContext& context) : context_(context) {}

  /// A change by the statement; without `new_row` it deletes. False: the row was changed before.
  bool add(const TablePtr& table, std::span<const sql::Datum> old_row, std::optional<std::span<const sql::Datum>> new_row);
  /// Finds the rows that refer to what has changed, and what becomes of them. Throws 23502, 23514 of such rows.
  asio::awaitable<void> run(ExecutionCounters* counters);

  struct Change {
    TablePtr table;
    Row old_row;
    std::optional<Row> new_row;
    bool by_action = false;  // at least in part
    bool is_read_only = false;
  };
  const std::deque<Change>& changes() const { return changes_; }

 private:
  /// A row that other rows may refer to has become another, or none.
  struct Event {
    TablePtr table;
    Row before;
    std::optional<Row> after;
  };
  /// Rows of a set that an event's foreign key acts on.
  struct Reach {
    ForeignKeyPtr key;
    std::size_t event;
    std::string set;
    std::vector<std::string> members;
  };

  /// The statement's one pointer to a table.
  const TablePtr& known(const TablePtr& table) { return tables_.try_emplace(table->oid, table).first->second; }
  const std::vector<ForeignKeyPtr>& keys_to(const TablePtr& table);
  asio::awaitable<void> read_members(std::vector<Reach>& reaches, ExecutionCounters* counters);
  asio::awaitable<void> read_rows(const std::vector<Reach>& reaches, ExecutionCounters* counters);
  void act(const ForeignKey& key, const Event& event, Change& change);
  sql::Datum default_of(const sql::TableDef& table, std::size_t position) const;
  void complete_rows();

  ExecutionContext& context_;
  std::deque<Change> changes_;
  std::map<std::pair<sql::Oid, std::string>, std::size_t> by_member_;
  std::map<sql::Oid, TablePtr> tables_;
  std::map<sql::Oid, std::vector<ForeignKeyPtr>> keys_;
  std::vector<Event> events_;
};

}  // namespace redquel::executor
