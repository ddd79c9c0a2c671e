#include "executor/statements/truncate_triggers.h"

#include <algorithm>

#include "executor/context/trigger_call.h"
#include "executor/routines/run_routine.h"
#include "executor/runtime/clock.h"
#include "executor/runtime/session_context.h"
#include "executor/writes/statement_triggers.h"
#include "planner/bind/trigger_condition.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::TriggerDef;
using TablePtr = std::shared_ptr<const sql::TableDef>;

namespace {

bool is_for_truncate(const TriggerDef& trigger) { return trigger.is_for(TriggerDef::Event::kTruncate); }

bool is_wanted(const TriggerDef& trigger, const TablePtr& table, const SessionState& session, const sql::CatalogSnapshot& catalog) {
  const sql::EvaluationContext context = session_context(session, &catalog);
  if (!fires_in_role(trigger, context)) return false;
  if (trigger.when_sql.empty()) return true;
  const sql::ExpressionPtr condition = planner::bind_trigger_condition(trigger.when_sql, table, catalog, bind_settings(session));
  return holds_for(*condition, *table, {.event = TriggerDef::Event::kTruncate}, context);
}

}  // namespace

bool may_fire_triggers(const ast::Truncate& statement, const sql::CatalogSnapshot& catalog, const SessionState& session) {
  std::vector<TablePtr> reached;
  const auto add = [&](const TablePtr& table) {
    const auto is_same = [&](const TablePtr& other) { return other->oid == table->oid; };
    if (table && std::ranges::none_of(reached, is_same)) reached.push_back(table);
  };
  for (const ast::TableRef& relation : statement.relations) add(catalog.find_table(relation.name.schema, relation.name.name, session.search_path));
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const TablePtr table = reached[i];
    if (std::ranges::any_of(table->triggers, is_for_truncate)) return true;
    if (table->partition_key) std::ranges::for_each(table->parts, add);
    if (!statement.cascade) continue;
    for (const sql::Oid referencing : table->referencing) add(catalog.find_table(referencing));
  }
  return false;
}

boost::asio::awaitable<void> fire_truncate_triggers(RedisEngine& engine, SessionState& session, std::vector<TablePtr> tables, TriggerDef::Timing timing) {
  if (tables.empty()) co_return;
  if (session.function_depth == 0) session.statement_time = now_microseconds();
  const sql::CatalogPtr catalog = co_await engine.catalog(session);
  for (const TablePtr& table : tables) {
    for (const TriggerDef& trigger : table->triggers) {
      if (!is_for_truncate(trigger) || trigger.timing != timing || !is_wanted(trigger, table, session, *catalog)) continue;
      TriggerCall call;
      call.table = table;
      call.trigger = &trigger;
      call.change.event = TriggerDef::Event::kTruncate;
      FunctionInvocation invocation;
      invocation.function = trigger.function;
      invocation.trigger = &call;
      co_await run_routine(engine, session, std::move(invocation));
    }
  }
}

}  // namespace redquel::executor
