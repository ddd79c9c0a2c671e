#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/context/trigger_call.h"
#include "planner/tree/fired_triggers.h"

namespace redquel::executor {

/// The triggers that one statement fires. Its writes belong to a transaction: what triggers write becomes part of it.
class StatementTriggers {
 public:
  using TablePtr = std::shared_ptr<const sql::TableDef>;
  using Event = sql::TriggerDef::Event;
  using Flush = std::function<boost::asio::awaitable<void>()>;

  explicit StatementTriggers(ExecutionContext& context) : context_(context) {}

  /// A write of the table begins: fires its triggers BEFORE … FOR EACH STATEMENT.
  boost::asio::awaitable<void> begin(TablePtr table, std::vector<planner::WriteEvent> events);
  /// From now on the triggers BEFORE are those of an action of a foreign key.
  void enter_action() { in_action_ = true; }
  /// Returns true if triggers BEFORE … FOR EACH ROW look at rows that the event changes.
  bool has_before(const sql::TableDef& table, Event event) const;
  /// Fires them for one row, whose new values they may change. Returns false if the row stays as it is. `flush` makes visible to triggers
  /// what the statement has changed before.
  boost::asio::awaitable<bool> before(TablePtr table, RowChange& change, Flush flush);
  /// Notes a change for the triggers AFTER.
  void note(const TablePtr& table, Event event, std::span<const sql::Datum> old_row, std::span<const sql::Datum> new_row);
  /// Fires the triggers AFTER, table by table: for each row in the order of the changes, then FOR EACH STATEMENT.
  boost::asio::awaitable<void> finish();

 private:
  using TriggerPtr = const sql::TriggerDef*;
  /// The triggers of one table for one event, in the order of their names.
  struct Fired {
    TablePtr table;
    std::vector<TriggerPtr> before_statement, before_row, after_row, after_statement;
  };
  struct Noted {
    TablePtr table;
    TriggerPtr trigger;
    std::shared_ptr<const RowChange> change;
  };

  const Fired* fired(const sql::TableDef& table, Event event) const;
  bool fires_in_this_role(const sql::TriggerDef& trigger) const;
  /// Returns true if WHEN is true, or there is none.
  bool is_wanted(const TablePtr& table, const sql::TriggerDef& trigger, const RowChange& change);
  /// `change`: without rows FOR EACH STATEMENT. Returns what the function returns.
  boost::asio::awaitable<std::optional<std::vector<sql::Datum>>> call(TablePtr table, TriggerPtr trigger, RowChange change, Flush flush);

  ExecutionContext& context_;
  bool in_action_ = false;
  std::map<std::pair<sql::Oid, Event>, Fired> fired_;
  std::vector<sql::Oid> tables_;  // in the order in which the statement began to write them
  std::map<TriggerPtr, sql::ExpressionPtr> conditions_;
  std::map<sql::Oid, std::deque<Noted>> noted_;
};

}  // namespace redquel::executor
