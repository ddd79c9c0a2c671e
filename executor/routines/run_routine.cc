#include "executor/routines/run_routine.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "executor/context/trigger_call.h"
#include "executor/engine/redis_engine.h"
#include "executor/roles/access.h"
#include "executor/roles/acting_role.h"
#include "executor/routines/plpgsql_routine.h"
#include "executor/routines/routine_result.h"
#include "executor/routines/routine_state.h"
#include "executor/routines/sql_routine.h"
#include "executor/runtime/function_settings.h"
#include "executor/runtime/session_context.h"
#include "executor/transaction/transaction.h"
#include "planner/bind/maintained_view.h"
#include "planner/bind/sql_function.h"
#include "sql/catalog/function_text.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/trigger_words.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::executor {

using sql::FunctionDef;
using sql::SqlError;

namespace {

/// While it lives, a trigger runs (pg_trigger_depth()).
class TriggerDepth {
 public:
  TriggerDepth(SessionState& session, std::int32_t levels) : session_(session), levels_(levels) { session_.trigger_depth += levels_; }
  ~TriggerDepth() { session_.trigger_depth -= levels_; }
  TriggerDepth(const TriggerDepth&) = delete;
  TriggerDepth& operator=(const TriggerDepth&) = delete;

 private:
  SessionState& session_;
  const std::int32_t levels_;
};

/// While it lives, statements of the session read the transition tables of one call, and not those of the routines around it.
class TransitionTablesScope {
 public:
  TransitionTablesScope(SessionState& session, const TriggerCall* trigger)
      : session_(session), outer_(std::exchange(session.transition_tables, trigger != nullptr ? trigger->transition_tables : nullptr)) {}
  ~TransitionTablesScope() { session_.transition_tables = std::move(outer_); }
  TransitionTablesScope(const TransitionTablesScope&) = delete;
  TransitionTablesScope& operator=(const TransitionTablesScope&) = delete;

 private:
  SessionState& session_;
  std::shared_ptr<const TransitionTables> outer_;
};

/// Calls within calls. PostgreSQL's stack of 2 MB ends at about as many.
constexpr std::size_t kMaxDepth = 1000;
constexpr std::size_t kCompiledRoutines = 500;
constexpr sql::Oid kTriggerType = 2279;

std::string key_of(const FunctionInvocation& invocation, const SessionState& session) {
  std::string key = std::to_string(invocation.function);
  for (const sql::Type type : invocation.types) key += ":" + std::to_string(type.oid);
  if (invocation.trigger != nullptr) key += "@" + std::to_string(invocation.trigger->table->oid);
  // Its statements name the transition tables, and the maintained view, as the trigger does.
  const sql::TriggerDef* const trigger = invocation.trigger != nullptr ? invocation.trigger->trigger : nullptr;
  if (trigger != nullptr && (trigger->has_transition_tables() || sql::maintains_view(*trigger))) key += "#" + std::to_string(invocation.trigger->trigger->oid);
  for (const std::string& schema : session.search_path) key += "/" + schema;
  return key + "/" + std::to_string(session.role);
}

/// Returns the materialized view that a call of its trigger keeps current; null: the call is another one.
std::shared_ptr<const sql::TableDef> maintained_by(const FunctionInvocation& invocation, const sql::CatalogSnapshot& catalog) {
  if (invocation.trigger == nullptr || !sql::maintains_view(*invocation.trigger->trigger)) return nullptr;
  return catalog.find_table(sql::maintained_view(*invocation.trigger->trigger));
}

/// The function of the triggers that keep a materialized view current.
std::shared_ptr<Routine> compile_maintenance(const TriggerCall& call, const sql::TableDef& view, const sql::CatalogPtr& catalog, const SessionState& session) {
  const auto definition = std::make_shared<FunctionDef>();
  definition->oid = sql::kMaintainView;
  definition->schema = "redquel";
  definition->name = "maintain_view";
  definition->language = "plpgsql";
  definition->result = sql::Type{kTriggerType};
  const auto kept = planner::MaintainedView::read(*view.materialized, view, *catalog, bind_settings(session));
  definition->body = fmt::format("#variable_conflict use_column\nDECLARE redquel_change record; redquel_empty bigint;\nBEGIN\n{}RETURN NULL;\nEND", kept.after(call.change.event));
  return compile_trigger_function(definition, *call.table, catalog, session);
}

std::shared_ptr<Routine> compile(RedisEngine& engine, const FunctionInvocation& invocation, const sql::CatalogPtr& catalog, const SessionState& session) {
  if (const auto view = maintained_by(invocation, *catalog)) return compile_maintenance(*invocation.trigger, *view, catalog, session);
  const auto definition = catalog->functions.find(invocation.function);
  if (definition == catalog->functions.end()) {
    throw SqlError(sqlstate::kUndefinedFunction, fmt::format("function with OID {} does not exist", invocation.function));
  }
  const std::shared_ptr<const FunctionDef> concrete = planner::concrete_function(*catalog, definition->second, invocation.types);
  if (invocation.trigger != nullptr) return compile_trigger_function(concrete, *invocation.trigger->table, catalog, session);
  if (concrete->language == "plpgsql") return compile_plpgsql(concrete, catalog, session);
  try {
    return SqlRoutine::compile(engine, concrete, *catalog, session);
  } catch (const SqlError& error) {
    throw with_context(error, fmt::format("SQL function \"{}\" during startup", concrete->name));
  }
}

asio::awaitable<RoutinePtr> compiled(RedisEngine& engine, const FunctionInvocation& invocation, SessionState& session) {
  const bool has_own = session.transaction && session.transaction->catalog();
  sql::CatalogPtr known = engine.catalog_at_hand(session);
  if (!known) known = co_await engine.catalog(session);
  follow_search_path(session, *known, has_own);
  const std::string key = key_of(invocation, session);
  const auto found = engine.routines().find(key);
  if (!has_own && found != engine.routines().end() && found->second->holds(*known, session.settings)) co_return found->second;
  std::shared_ptr<Routine> made;
  const auto make = [&](const sql::CatalogPtr& catalog) {
    made = compile(engine, invocation, catalog, session);
    made->catalog_version = catalog->version;
    made->compiled_for = session.settings;
  };
  co_await engine.with_definitions(session, make);
  if (has_own) co_return made;
  if (engine.routines().size() >= kCompiledRoutines) engine.routines().clear();
  engine.routines()[key] = made;
  co_return made;
}

}  // namespace

RoutineDepth::RoutineDepth(SessionState& session) : session_(session) {
  if (session.function_depth >= kMaxDepth) {
    throw sql::stack_depth_exceeded()
        .hint("Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's stack depth limit "
              "is adequate.");
  }
  ++session.function_depth;
}

CallerState::CallerState(SessionState& session)
    : session_(session), transaction_(session.transaction), types_(session.known_types->types), ended_(routine_state(session).ended_transactions) {}

CallerState::~CallerState() {
  // A procedure that has ended the transaction has begun another one.
  if (session_.routines->ended_transactions == ended_) session_.transaction = std::move(transaction_);
  session_.known_types->types = std::move(types_);
}

RoutineState& routine_state(SessionState& session) {
  if (!session.routines) session.routines = std::make_shared<RoutineState>();
  RoutineState& state = *session.routines;
  const std::shared_ptr<Transaction> of = state.of.lock();
  if (of != session.transaction) {
    state.cursors.clear();
    state.of = session.transaction;
  }
  return state;
}

asio::awaitable<std::vector<sql::Batch>> run_routine(RedisEngine& engine, SessionState& session, FunctionInvocation invocation) {
  bool may_end_transaction = false;
  const RoutineDepth depth(session);
  std::optional<TriggerDepth> in_trigger;
  if (invocation.trigger != nullptr) in_trigger.emplace(session, invocation.trigger->levels);
  const TransitionTablesScope transition_tables(session, invocation.trigger);
  RoutineState& state = routine_state(session);
  if (session.function_depth == 1 && !session.transaction) state.cursors.clear();
  sql::CatalogPtr definitions = engine.catalog_at_hand(session);
  if (!definitions) definitions = co_await engine.catalog(session);
  const auto definition = definitions->functions.find(invocation.function);
  std::optional<ActingRole> definer;
  std::optional<FunctionSettings> settings;  // they decide what the names in the body mean, too
  if (definition != definitions->functions.end()) {
    const FunctionDef& function = *definition->second;
    // The right to call a trigger's function was asked for when the trigger was made.
    if (function.acl && invocation.trigger == nullptr) require_rights(session, *definitions, sql::AclKind::kFunction, invocation.function, sql::right::kExecute);
    if (function.is_security_definer()) definer.emplace(session, sql::owner_role(function.owner));
    settings.emplace(session, function);
    if (function.procedure && std::exchange(state.next_may_end_transaction, false)) may_end_transaction = true;
    // As in PostgreSQL, the role and the settings would be lost with the transaction.
    may_end_transaction = may_end_transaction && !definer && sql::function_settings(function).empty();
  }
  if (const auto view = maintained_by(invocation, *definitions)) {
    if (!view->materialized || !view->populated) co_return std::vector<sql::Batch>();  // REFRESH fills it
    definer.emplace(session, sql::owner_role(view->owner));
  }
  const RoutinePtr routine = co_await compiled(engine, invocation, session);
  RoutineCall call{engine, session, invocation, may_end_transaction};
  co_return co_await routine->run(call);
}

}  // namespace redquel::executor
