#include "executor/writes/statement_triggers.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/runtime/session_context.h"
#include "executor/storage/constraint_errors.h"
#include "planner/bind/trigger_condition.h"
#include "sql/catalog/partitions.h"
#include "sql/catalog/spread_table.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/routine_sqlstate.h"
#include "sql/system_tables/trigger_words.h"

namespace redquel::executor {

using sql::TriggerDef;
using Event = TriggerDef::Event;
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

std::vector<std::size_t> StatementTriggers::columns_kept_by(const TriggerDef& trigger, const sql::TableDef& table) const {
  std::vector<std::size_t> positions;
  const auto view = context_.catalog()->find_table(sql::maintained_view(trigger));
  if (!view || !view->materialized) return positions;
  for (const sql::ViewDef::Reference& reference : view->materialized->references) {
    if (reference.relation != table.oid) continue;
    for (const std::int16_t number : reference.columns) positions.push_back(table.position(number));
  }
  return positions;
}

asio::awaitable<void> StatementTriggers::begin(TablePtr table, std::vector<planner::WriteEvent> events) {
  for (const planner::WriteEvent& event : events) {
    const std::pair key(table->oid, event.event);
    if (fired_.contains(key)) continue;  // another part of the statement has begun it
    Fired found{.table = table, .event = event};
    bool old_rows = false, new_rows = false, is_kept_alone = true;
    std::vector<std::size_t> kept_columns;
    for (const TriggerDef& trigger : table->triggers) {
      if (!planner::is_fired(trigger, event) || !fires_in_role(trigger, context_.evaluation())) continue;
      old_rows = old_rows || !trigger.old_table.empty();
      new_rows = new_rows || !trigger.new_table.empty();
      if (sql::maintains_view(trigger)) {
        const std::vector<std::size_t> read = columns_kept_by(trigger, *table);
        kept_columns.insert(kept_columns.end(), read.begin(), read.end());
      } else if (trigger.has_transition_tables()) {
        is_kept_alone = false;
      }
      if (trigger.for_each_row) continue;
      (trigger.timing == TriggerDef::Timing::kAfter ? found.after_statement : found.before_statement).push_back(&trigger);
    }
    if (old_rows || new_rows) found.transition = std::make_shared<TransitionRows>(table, old_rows, new_rows, context_);
    if (is_kept_alone) found.kept_columns = std::move(kept_columns);
    const std::vector<TriggerPtr> first = found.before_statement;
    fired_.emplace(key, std::move(found));
    if (std::ranges::find(tables_, table->oid) == tables_.end()) tables_.push_back(table->oid);
    for (const TriggerPtr trigger : first) {
      RowChange change{.event = event.event};
      if (is_wanted(table, *trigger, change)) co_await call(table, trigger, std::move(change), nullptr);
    }
  }
}

const StatementTriggers::FiredForRows& StatementTriggers::for_rows(const TablePtr& stored, const planner::WriteEvent& event) {
  const auto [entry, is_new] = for_rows_.try_emplace({stored->oid, event.event});
  if (!is_new) return entry->second;
  for (sql::TableTrigger& found : sql::triggers_of(*context_.catalog(), stored)) {
    const TriggerDef& trigger = *found.trigger;
    if (!trigger.for_each_row || !planner::is_fired(trigger, event) || !fires_in_role(trigger, context_.evaluation())) continue;
    (trigger.timing == TriggerDef::Timing::kAfter ? entry->second.after : entry->second.before).push_back(std::move(found));
  }
  return entry->second;
}

bool StatementTriggers::has_before(const TablePtr& table, Event event) {
  const Fired* const found = fired(*table, event);
  if (found == nullptr) return false;
  const auto fires = [&](const TablePtr& stored) {
    const bool may_move = event == Event::kUpdate && table->partition_key;
    return !for_rows(stored, found->event).before.empty() ||
           (may_move && (!for_rows(stored, {Event::kDelete, {}}).before.empty() || !for_rows(stored, {Event::kInsert, {}}).before.empty()));
  };
  return table->partition_key ? std::ranges::any_of(table->parts, fires) : fires(table);
}

namespace {

std::string partition_name(const sql::TableDef& table) { return fmt::format("{}.{}", table.schema, table.name); }

/// The table that has the row: one of the partitions of a partitioned table.
std::shared_ptr<const sql::TableDef> stored_table(const std::shared_ptr<const sql::TableDef>& table, std::span<const sql::Datum> row) {
  return table->partition_key ? sql::part_of_row(*table, row) : table;
}

}  // namespace

asio::awaitable<bool> StatementTriggers::before_row(TablePtr stored, planner::WriteEvent event, RowChange& change, Flush flush) {
  for (const sql::TableTrigger& fired : for_rows(stored, event).before) {
    if (!is_wanted(stored, *fired.trigger, change)) continue;
    std::optional<Row> row = co_await call(stored, fired.trigger, change, flush);
    if (!row) co_return false;
    if (!change.new_row) continue;
    *change.new_row = *std::move(row);
    if (change.event != Event::kInsert || !stored->partition || sql::partition_takes(*context_.catalog(), *stored, *change.new_row)) continue;
    if (fired.owner->oid != stored->oid) {
      throw sql::SqlError(sqlstate::kFeatureNotSupported, "moving row to another partition during a BEFORE FOR EACH ROW trigger is not supported")
          .detail(fmt::format("Before executing trigger \"{}\", the row was to be in partition \"{}\".", fired.trigger->name, partition_name(*stored)));
    }
    throw partition_violation(*stored, *change.new_row, *context_.evaluation().settings);
  }
  co_return true;
}

asio::awaitable<bool> StatementTriggers::before(TablePtr table, RowChange& change, Flush flush) {
  const Fired* const found = fired(*table, change.event);
  if (found == nullptr) co_return true;
  const planner::WriteEvent event = found->event;
  const TablePtr stored = stored_table(table, change.old_row ? *change.old_row : *change.new_row);
  const bool is_kept = co_await before_row(stored, event, change, flush);
  if (!is_kept) co_return false;
  const bool may_move = table->partition_key && change.event == Event::kUpdate;
  if (!may_move) co_return true;
  const TablePtr target = stored_table(table, *change.new_row);
  if (target->oid == stored->oid) co_return true;
  // The row leaves one partition and comes into another.
  const planner::WriteEvent leaving{Event::kDelete, {}}, coming{Event::kInsert, {}};
  RowChange leaves{.event = Event::kDelete}, comes{.event = Event::kInsert};
  leaves.old_row = change.old_row;
  const bool goes = co_await before_row(stored, leaving, leaves, flush);
  if (!goes) co_return false;
  comes.new_row = change.new_row;
  const bool arrives = co_await before_row(target, coming, comes, flush);
  if (!arrives) throw sql::not_supported("a BEFORE INSERT trigger that skips a row which UPDATE moves to another partition");
  change.new_row = std::move(comes.new_row);
  co_return true;
}

void StatementTriggers::note(const TablePtr& table, Event event, std::span<const sql::Datum> old_row, std::span<const sql::Datum> new_row) {
  const Fired* const found = fired(*table, event);
  if (found == nullptr) return;
  const auto is_same = [&](std::size_t position) { return old_row[position] == new_row[position]; };
  const bool leaves_views = found->kept_columns && !old_row.empty() && !new_row.empty() && std::ranges::all_of(*found->kept_columns, is_same);
  if (found->transition && !leaves_views) found->transition->add(old_row, new_row);
  const auto visible = [&](std::span<const sql::Datum> row) {
    return row.empty() ? std::nullopt : std::optional(Row(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(table->columns.size())));
  };
  const auto note_change = [&](const TablePtr& stored, const planner::WriteEvent& of_row, std::span<const sql::Datum> before, std::span<const sql::Datum> after) {
    const std::vector<sql::TableTrigger>& after_row = for_rows(stored, of_row).after;
    if (after_row.empty()) return;
    auto change = std::make_shared<RowChange>(RowChange{.event = of_row.event});
    change->old_row = visible(before);
    change->new_row = visible(after);
    for (const sql::TableTrigger& of_table : after_row) {
      if (is_wanted(stored, *of_table.trigger, *change)) noted_[table->oid].push_back({stored, of_table.trigger, change});
    }
  };
  const TablePtr stored = stored_table(table, old_row.empty() ? new_row : old_row);
  const TablePtr target = old_row.empty() || new_row.empty() ? stored : stored_table(table, new_row);
  if (target->oid == stored->oid) return note_change(stored, found->event, old_row, new_row);
  note_change(stored, {Event::kDelete, {}}, old_row, {});
  note_change(target, {Event::kInsert, {}}, {}, new_row);
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
  if (sql::maintains_view(*trigger) && made.transition_tables->old_rows.empty() && made.transition_tables->new_rows.empty()) co_return std::nullopt;
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
