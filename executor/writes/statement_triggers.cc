#include "executor/writes/statement_triggers.h"

#include <algorithm>

#include "executor/runtime/session_context.h"
#include "planner/bind/trigger_condition.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/routine_sqlstate.h"
#include "sql/system_tables/trigger_words.h"

namespace redquel::executor {

using sql::TriggerDef;
using Row = std::vector<sql::Datum>;

namespace {

/// The built-in suppress_redundant_updates_trigger(). Returns false for an update that changes nothing.
bool is_needed(const TriggerDef& trigger, const RowChange& change) {
  const auto refused = [](const char* demand) {
    return sql::SqlError(sqlstate::kTriggerProtocolViolated, std::string("suppress_redundant_updates_trigger: must be called ") + demand);
  };
  if (change.event != TriggerDef::Event::kUpdate) throw refused("on update");
  if (trigger.timing != TriggerDef::Timing::kBefore) throw refused("before update");
  if (!trigger.for_each_row) throw refused("for each row");
  return *change.old_row != *change.new_row;
}

}  // namespace

bool fires_in_role(const TriggerDef& trigger, const sql::EvaluationContext& evaluation) {
  const std::string* role = evaluation.show != nullptr ? evaluation.show(evaluation.session, "session_replication_role") : nullptr;
  const bool is_replica = role != nullptr && *role == "replica";
  switch (trigger.firing) {
    case TriggerDef::Firing::kDisabled: return false;
    case TriggerDef::Firing::kAlways: return true;
    case TriggerDef::Firing::kReplica: return is_replica;
    case TriggerDef::Firing::kOrigin: break;
  }
  return !is_replica;
}

bool holds_for(const sql::Expression& condition, const sql::TableDef& table, const RowChange& change, const sql::EvaluationContext& evaluation) {
  sql::Batch batch{.rows = 1, .columns = {}};
  for (const std::optional<Row>* row : {&change.old_row, &change.new_row}) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const sql::Datum value = *row ? (**row)[i] : sql::Datum();
      batch.columns.push_back(std::make_shared<const sql::Column>(sql::Column::constant(table.columns[i].type, value, 1)));
    }
  }
  return !sql::select_rows(condition, batch, evaluation).empty();
}

const StatementTriggers::Fired* StatementTriggers::fired(const sql::TableDef& table, Event event) const {
  const auto found = fired_.find({table.oid, event});
  return found == fired_.end() ? nullptr : &found->second;
}

asio::awaitable<void> StatementTriggers::begin(TablePtr table, std::vector<planner::WriteEvent> events) {
  for (const planner::WriteEvent& event : events) {
    const std::pair key(table->oid, event.event);
    if (fired_.contains(key)) continue;  // another part of the statement has begun it
    Fired found{.table = table};
    for (const TriggerDef& trigger : table->triggers) {
      if (!planner::is_fired(trigger, event) || !fires_in_role(trigger, context_.evaluation())) continue;
      const bool is_before = trigger.timing != TriggerDef::Timing::kAfter;
      std::vector<TriggerPtr>& list = trigger.for_each_row ? (is_before ? found.before_row : found.after_row)
                                                           : (is_before ? found.before_statement : found.after_statement);
      list.push_back(&trigger);
    }
    const auto names = [&](const std::string TriggerDef::*name) {
      const auto has_name = [&](TriggerPtr trigger) { return !(trigger->*name).empty(); };
      return std::ranges::any_of(found.after_row, has_name) || std::ranges::any_of(found.after_statement, has_name);
    };
    const bool old_rows = names(&TriggerDef::old_table), new_rows = names(&TriggerDef::new_table);
    if (old_rows || new_rows) found.transition = std::make_shared<TransitionRows>(table, old_rows, new_rows, context_);
    const std::vector<TriggerPtr> first = found.before_statement;
    fired_.emplace(key, std::move(found));
    if (std::ranges::find(tables_, table->oid) == tables_.end()) tables_.push_back(table->oid);
    for (const TriggerPtr trigger : first) {
      RowChange change{.event = event.event};
      if (is_wanted(table, *trigger, change)) co_await call(table, trigger, std::move(change), nullptr);
    }
  }
}

bool StatementTriggers::has_before(const sql::TableDef& table, Event event) const {
  const Fired* const found = fired(table, event);
  return found != nullptr && !found->before_row.empty();
}

asio::awaitable<bool> StatementTriggers::before(TablePtr table, RowChange& change, Flush flush) {
  const Fired* const found = fired(*table, change.event);
  if (found == nullptr) co_return true;
  for (const TriggerPtr trigger : found->before_row) {
    if (!is_wanted(table, *trigger, change)) continue;
    std::optional<Row> row = co_await call(table, trigger, change, flush);
    if (!row) co_return false;
    if (change.new_row) *change.new_row = *std::move(row);
  }
  co_return true;
}

void StatementTriggers::note(const TablePtr& table, Event event, std::span<const sql::Datum> old_row, std::span<const sql::Datum> new_row) {
  const Fired* const found = fired(*table, event);
  if (found != nullptr && found->transition) found->transition->add(old_row, new_row);
  if (found == nullptr || found->after_row.empty()) return;
  auto change = std::make_shared<RowChange>(RowChange{.event = event});
  const auto visible = [&](std::span<const sql::Datum> row) { return Row(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(table->columns.size())); };
  if (!old_row.empty()) change->old_row = visible(old_row);
  if (!new_row.empty()) change->new_row = visible(new_row);
  for (const TriggerPtr trigger : found->after_row) {
    if (is_wanted(table, *trigger, *change)) noted_[table->oid].push_back({table, trigger, change});
  }
}

asio::awaitable<void> StatementTriggers::finish() {
  for (const sql::Oid table : tables_) {
    for (std::deque<Noted>& noted = noted_[table]; !noted.empty(); noted.pop_front()) {
      const Noted first = noted.front();
      co_await call(first.table, first.trigger, *first.change, nullptr);
    }
    // In PostgreSQL's order.
    for (const Event event : {Event::kDelete, Event::kUpdate, Event::kInsert}) {
      const auto found = fired_.find({table, event});
      if (found == fired_.end()) continue;
      for (const TriggerPtr trigger : found->second.after_statement) {
        RowChange change{.event = event};
        if (is_wanted(found->second.table, *trigger, change)) co_await call(found->second.table, trigger, std::move(change), nullptr);
      }
    }
  }
}

bool StatementTriggers::is_wanted(const TablePtr& table, const TriggerDef& trigger, const RowChange& change) {
  if (trigger.when_sql.empty()) return true;
  sql::ExpressionPtr& condition = conditions_[&trigger];
  if (!condition) condition = planner::bind_trigger_condition(trigger.when_sql, table, *context_.catalog(), bind_settings(context_.evaluation(), false));
  return holds_for(*condition, *table, change, context_.evaluation());
}

asio::awaitable<std::optional<Row>> StatementTriggers::call(TablePtr table, TriggerPtr trigger, RowChange change, Flush flush) {
  if (trigger->function == sql::kSuppressRedundantUpdates) {
    std::optional<Row> row;
    if (is_needed(*trigger, change)) row = std::move(change.new_row);
    co_return row;
  }
  TriggerCall made;
  if (trigger->has_transition_tables()) made.transition_tables = fired(*table, change.event)->transition->tables();
  made.table = std::move(table);
  made.trigger = trigger;
  made.change = std::move(change);
  const bool is_of_action = in_action_ && trigger->timing == TriggerDef::Timing::kBefore;
  made.levels = is_of_action ? 2 : 1;
  made.before_statement = std::move(flush);
  FunctionInvocation invocation;
  invocation.function = trigger->function;
  invocation.trigger = &made;
  co_await context_.run_function(std::move(invocation));
  co_return std::move(made.result);
}

}  // namespace redquel::executor
