#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/context/trigger_call.h"
#include "executor/writes/transition_rows.h"
#include "planner/tree/fired_triggers.h"
#include "sql/catalog/table_triggers.h"

namespace redquel::executor {

/// Returns true if the trigger fires under the session_replication_role.
bool fires_in_role(const sql::TriggerDef& trigger, const sql::EvaluationContext& evaluation);
/// Returns true if `condition`, bound by bind_trigger_condition(), is true for the change.
bool holds_for(const sql::Expression& condition, const sql::TableDef& table, const RowChange& change, const sql::EvaluationContext& evaluation);

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
  bool has_before(const TablePtr& table, Event event);
  /// Fires them, or the triggers INSTEAD OF, for one row, whose new values they may change. Returns false if the row stays as it is. `flush` makes
  /// visible to triggers what the statement has changed before; may be empty.
  boost::asio::awaitable<bool> before(TablePtr table, RowChange& change, Flush flush);
  /// Notes a change for the triggers AFTER.
  void note(const TablePtr& table, Event event, std::span<const sql::Datum> old_row, std::span<const sql::Datum> new_row);
  /// Fires the triggers AFTER, table by table: for each row in the order of the changes, then FOR EACH STATEMENT.
  boost::asio::awaitable<void> finish();

 private:
  using TriggerPtr = const sql::TriggerDef*;
  /// The triggers FOR EACH STATEMENT of a written table for one event, in the order of their names.
  struct Fired {
    TablePtr table;
    planner::WriteEvent event;
    std::shared_ptr<TransitionRows> transition = {};  // null: no trigger names transition tables
    /// The columns that maintained views read, by position, if only these views read the transition tables.
    std::optional<std::vector<std::size_t>> kept_columns = {};
    std::vector<TriggerPtr> before_statement = {}, after_statement = {};
  };
  /// The triggers FOR EACH ROW of a table that has rows, its own and those of partitioned tables above it, in the order of their names.
  struct FiredForRows {
    std::vector<sql::TableTrigger> before, after;  // `before`: also INSTEAD OF
  };
  struct Noted {
    TablePtr table;  // that has the row
    TriggerPtr trigger;
    std::shared_ptr<const RowChange> change;
  };

  const Fired* fired(const sql::TableDef& table, Event event) const;
  /// Returns the columns of the table that the view of such a trigger reads, by position.
  std::vector<std::size_t> columns_kept_by(const sql::TriggerDef& trigger, const sql::TableDef& table) const;
  /// `stored`: the table that has the rows.
  const FiredForRows& for_rows(const TablePtr& stored, const planner::WriteEvent& event);
  /// Fires the triggers BEFORE, or INSTEAD OF, of the table that has the row.
  boost::asio::awaitable<bool> before_row(TablePtr stored, planner::WriteEvent event, RowChange& change, Flush flush);
  /// Returns true if WHEN is true, or there is none.
  bool is_wanted(const TablePtr& table, const sql::TriggerDef& trigger, const RowChange& change);
  /// `change`: without rows FOR EACH STATEMENT. Returns what the function returns.
  boost::asio::awaitable<std::optional<std::vector<sql::Datum>>> call(TablePtr table, TriggerPtr trigger, RowChange change, Flush flush);

  ExecutionContext& context_;
  bool in_action_ = false;
  std::map<std::pair<sql::Oid, Event>, Fired> fired_;
  std::map<std::pair<sql::Oid, Event>, FiredForRows> for_rows_;
  std::vector<sql::Oid> tables_;  // in the order in which the statement began to write them
  std::map<TriggerPtr, sql::ExpressionPtr> conditions_;
  std::map<sql::Oid, std::deque<Noted>> noted_;
};

}  // namespace redquel::executor
