#include "executor/engine/redis_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "executor/engine/discovery_wait.h"
#include "executor/engine/statement_kind.h"
#include "executor/redis/bad_key.h"
#include "executor/redis/executor_counts.h"
#include "executor/redis/seen_version.h"
#include "executor/roles/access.h"
#include "executor/roles/user_mappings.h"
#include "executor/runtime/computation.h"
#include "executor/runtime/session_context.h"
#include "executor/storage/bad_keys.h"
#include "executor/storage/catalog_marks.h"
#include "executor/storage/catalog_store.h"
#include "executor/storage/version_copies.h"
#include "executor/tables/memory_run.h"
#include "executor/transaction/transaction.h"
#include "parser/deparse.h"
#include "parser/option_value.h"
#include "parser/parse.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/role_set.h"
#include "sql/catalog/stored_keys.h"
#include "sql/catalog/table_keys.h"
#include "sql/interrupts.h"
#include "sql/privileges/row_security.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;

RedisEngine::RedisEngine(RedisAccess& access, int database, RedisClient& home, EngineLimits limits, std::shared_ptr<TableMemory> memory)
    : access_(access),
      database_(database),
      shared_(access.shared(database)),
      bulk_(access.bulk(database)),
      home_(home),
      limits_(limits),
      memory_(std::move(memory)),
      plans_(limits.cached_plans) {}

namespace {

/// The session holds the snapshot from now on, and its coroutines know the types of it.
sql::CatalogPtr held_by(const SessionState& session, sql::CatalogPtr snapshot) {
  sql::UserTypesPtr& types = session.known_types->types;
  if (types != snapshot->user_types) types = snapshot->user_types;
  return snapshot;
}

}  // namespace

sql::CatalogPtr RedisEngine::catalog_at_hand(const SessionState& session) const {
  if (session.transaction && session.transaction->catalog()) return held_by(session, session.transaction->catalog()->snapshot());
  // Another Redis than before (restart, failover) may have lost definitions.
  if (generation_ != shared_.generation() || !catalog_) return nullptr;
  const std::string& seen = seen_version(database_);
  return seen.empty() || seen == catalog_->version ? held_by(session, catalog_) : nullptr;
}

asio::awaitable<sql::CatalogPtr> RedisEngine::catalog(const SessionState& session) {
  if (sql::CatalogPtr known = catalog_at_hand(session)) co_return known;
  co_await reload_catalog();
  co_return held_by(session, catalog_);
}

asio::awaitable<sql::CatalogPtr> RedisEngine::newest_catalog(const SessionState& session) {
  if (session.transaction && session.transaction->catalog()) {
    co_await follow_definitions_of_others(shared_, *session.transaction);
    co_return held_by(session, session.transaction->catalog()->snapshot());
  }
  const sql::CatalogPtr known = co_await catalog(session);
  CommandBatch batch;
  batch.add("EXISTS", sql::home_key(sql::kVersionKey));  // every turn returns the version
  const RepliesPtr replies = co_await shared_.execute(std::move(batch));
  if (replies->catalog_version().value_or("") == known->version) co_return known;
  co_await reload_catalog();
  co_return held_by(session, catalog_);
}

asio::awaitable<bool> RedisEngine::reload_catalog() {
  LoadedCatalog loaded = co_await load_catalog(shared_);
  // Read later than the definitions: a unit that begins or ends in between moves the version, which every read compares.
  exclusive_ = co_await load_exclusive_tables(shared_, *loaded.snapshot);
  co_await publish_version(shared_);
  bool moved = !catalog_ || catalog_->version != loaded.snapshot->version;
  generation_ = shared_.generation();
  if (moved) {
    catalog_ = loaded.snapshot;
    cheapness_.clear();
    forget_other_users(access_, database_, catalog_->server);
  }
  co_return moved;
}

asio::awaitable<bool> RedisEngine::still_defines(std::vector<std::shared_ptr<const sql::TableDef>> tables) {
  co_await reload_catalog();
  co_return std::ranges::all_of(tables, [this](const auto& table) {
    const auto now = catalog_->find_table(table->oid);
    return now && now->version == table->version && !exclusive_.contains(table->oid);
  });
}

asio::awaitable<void> RedisEngine::load_definitions(SessionState& session) {
  co_await newest_catalog(session);
}

asio::awaitable<void> RedisEngine::begin_session() {
  co_await sweeper_.start();
  co_await commit_sweeper_.start();
  // Another session may forget it, or load it anew, while this one waits.
  const sql::CatalogPtr known = catalog_;
  if (!known) co_return;
  CommandBatch batch;
  const std::string process = lease_.process();
  const bool was_taken = lease_.is_taken();
  batch.add("EXISTS", process_key(process));  // every turn returns the version, too
  try {
    const RepliesPtr replies = co_await shared_.execute(std::move(batch));
    // If the database was dropped and created again, the lease is gone. Its name must not be taken again.
    if (was_taken && replies->integer(0) == 0) lease_.renounce(process);
    if (replies->catalog_version().value_or("") == known->version) co_return;
  } catch (const sql::SqlError&) {  // the first statement will say so
  }
  if (catalog_ == known) catalog_ = nullptr;
}

namespace {

bool has_own_definitions(const SessionState& session) { return session.transaction && session.transaction->catalog(); }

bool is_true(const ast::Option& option) {
  if (const std::optional<bool> flag = parser::option_flag(option)) return *flag;
  throw sql::SqlError(sqlstate::kSyntaxError, fmt::format("{} requires a Boolean value", option.name));
}

planner::ExplainOptions::Format explain_format(const ast::Option& option) {
  const std::optional<std::string> format = parser::option_text(option);
  if (!format) throw sql::SqlError(sqlstate::kSyntaxError, "format requires a parameter");
  if (*format == "text") return planner::ExplainOptions::Format::kText;
  if (*format == "json") return planner::ExplainOptions::Format::kJson;
  if (*format == "yaml") return planner::ExplainOptions::Format::kYaml;
  if (*format == "xml") return planner::ExplainOptions::Format::kXml;
  throw sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("unrecognized value for EXPLAIN option \"format\": \"{}\"", *format))
      .at(option.offset);
}

planner::ExplainOptions explain_options(const ast::Explain& explain) {
  planner::ExplainOptions options{.costs = true};
  std::optional<bool> summary;
  bool timing = false, wal = false;
  for (const ast::Option& option : explain.options) {
    if (option.name == "analyze") {
      options.analyze = is_true(option);
    } else if (option.name == "verbose") {
      options.verbose = is_true(option);
    } else if (option.name == "timing") {
      options.timing = timing = is_true(option);
    } else if (option.name == "summary") {
      summary = is_true(option);
    } else if (option.name == "format") {
      options.format = explain_format(option);
    } else if (option.name == "wal") {
      wal = is_true(option);
    } else if (option.name == "costs") {
      options.costs = is_true(option);
    } else if (option.name == "buffers" || option.name == "settings") {
      is_true(option);  // says nothing here, but must be a flag
    } else {
      throw sql::SqlError(sqlstate::kSyntaxError, fmt::format("unrecognized EXPLAIN option \"{}\"", option.name)).at(option.offset);
    }
  }
  if (!options.analyze && wal) throw sql::SqlError(sqlstate::kInvalidParameterValue, "EXPLAIN option WAL requires ANALYZE");
  if (!options.analyze && timing) throw sql::SqlError(sqlstate::kInvalidParameterValue, "EXPLAIN option TIMING requires ANALYZE");
  options.summary = summary.value_or(options.analyze);
  return options;
}

bool is_query(const ast::Statement& statement) {
  const auto& node = statement.node;
  if (is_create_table_as(statement)) return false;
  return std::holds_alternative<ast::Select>(node) || std::holds_alternative<ast::Insert>(node) ||
         std::holds_alternative<ast::Update>(node) || std::holds_alternative<ast::Delete>(node) ||
         std::holds_alternative<ast::Merge>(node);
}

std::vector<OutputColumn> output_columns(const planner::PhysicalNode& plan) {
  std::vector<OutputColumn> columns;
  for (const planner::PhysicalColumn& column : plan.columns) columns.push_back({column.name, column.type, column.table, column.attribute});
  return columns;
}

bool returns_rows(const planner::PhysicalNode& plan) {
  const planner::PhysicalNode* write = planner::main_write(plan);
  return write == nullptr || !plan.columns.empty();
}

/// The query that EXPLAIN plans in place of a statement that makes a table or a cursor. Null: the statement itself.
std::shared_ptr<const ast::Statement> explained_query(const ast::Statement& statement) {
  std::string text;
  if (const auto* create = std::get_if<ast::CreateTableAs>(&statement.node)) {
    const auto* query = std::get_if<ast::Select>(&create->query->node);
    if (query != nullptr) text = parser::to_sql(*query);
  } else if (const auto* cursor = std::get_if<ast::DeclareCursor>(&statement.node)) {
    text = parser::to_sql(*cursor->query);
  }
  if (text.empty()) return nullptr;
  return parser::parse_statement(text);
}

/// The query that a statement keeps or fills a table with: of DECLARE, CREATE TABLE AS and SELECT INTO. Null: another statement.
const ast::Select* query_within(const ast::Statement& statement) {
  if (const auto* declare = std::get_if<ast::DeclareCursor>(&statement.node)) return declare->query.get();
  if (const auto* create = std::get_if<ast::CreateTableAs>(&statement.node)) return std::get_if<ast::Select>(&create->query->node);
  return is_create_table_as(statement) ? &std::get<ast::Select>(statement.node) : nullptr;
}

}  // namespace

PreparedPtr RedisEngine::plan(std::string text, std::shared_ptr<const ast::Statement> statement, DeclaredParameters parameters,
                              const sql::CatalogSnapshot& catalog, const SessionState& session,
                              RoutineScope scope, const planner::TableSizes& sizes) const {
  auto started = std::chrono::steady_clock::now();
  const sql::InterruptScope interrupts(session.backend_pid);
  const sql::KnownTypesScope types(catalog.user_types);
  auto prepared = std::make_shared<Prepared>();
  auto plan = std::make_shared<PreparedPlan>();
  plan->catalog_version = catalog.version;
  plan->search_path = session.search_path;
  plan->role = session.role;
  plan->row_security = session.row_security;
  plan->sizes = sizes;
  const auto* explain = std::get_if<ast::Explain>(&statement->node);
  const auto* call = std::get_if<ast::Call>(&statement->node);
  if (call != nullptr) plan->rewritten = call->query;
  if (explain != nullptr) plan->rewritten = explained_query(*explain->statement);
  const ast::Statement& inner = plan->rewritten ? *plan->rewritten : explain ? *explain->statement : *statement;
  plan->statement = &inner;
  if (is_query(inner)) {
    planner::BindSettings settings = bind_settings(session, parameters.has_value());
    settings.reads_memory = memory_ != nullptr && session.reads_memory;
    settings.function = scope.function;
    settings.variables = scope.variables;
    settings.calls_procedure = call != nullptr;
    std::vector<sql::Type> types = std::move(parameters).value_or(std::vector<sql::Type>{});
    plan->planned = planner::plan(inner, catalog, std::move(types), settings, {}, sizes);
    prepared->parameter_types = plan->planned.parameter_types;
    prepared->columns = output_columns(*plan->planned.plan);
    prepared->returns_rows = returns_rows(*plan->planned.plan);
    prepared->needs_transaction = planner::locking_clause(plan->planned.plan).has_value();
    if (call) {
      plan->command_tag = "CALL";
      prepared->returns_rows = prepared->columns.size() != 1 || prepared->columns[0].type.oid != sql::oid::kVoid;
      if (!prepared->returns_rows) prepared->columns.clear();
    }
    // Indexes on expressions and partial ones are chosen by the constants that a statement names.
    prepared->depends_on_constants = std::ranges::any_of(planner::tables_of(plan->planned.plan), [](const auto& table) {
      return !table->computed.empty();
    });
  } else if (const auto* copy = std::get_if<ast::Copy>(&inner.node); copy && !explain) {
    plan->kind = PreparedPlan::Kind::kCopy;
    planner::BindSettings settings = bind_settings(session, true);
    settings.reads_memory = memory_ != nullptr && session.reads_memory;
    plan->copy = planner::plan_copy(*copy, catalog, settings);
    plan->planned = std::move(plan->copy.rows);
  } else if (explain) {
    throw sql::not_supported(fmt::format("EXPLAIN of {}", parser::command_tag(inner)));
  } else {
    plan->kind = PreparedPlan::Kind::kDefinition;
    const bool is_cursor = std::holds_alternative<ast::DeclareCursor>(inner.node);  // is only analyzed here: the server runs it
    if (!is_cursor && !is_definition(inner)) throw sql::not_supported(std::string(parser::command_tag(inner)));
    const ast::Select* query = query_within(inner);
    if (query && is_cursor && writes_in_with(*query)) {
      throw sql::SqlError(sqlstate::kFeatureNotSupported, "DECLARE CURSOR must not contain data-modifying statements in WITH");
    }
    if (query && !writes_in_with(*query)) {  // else its run refuses it
      planner::BindSettings settings = bind_settings(session, parameters.has_value());
      settings.into = !is_cursor;
      settings.variables = scope.variables;
      prepared->parameter_types = planner::bind(*query, catalog, std::move(parameters).value_or(std::vector<sql::Type>{}), settings).parameter_types;
      prepared->depends_on_constants = true;  // the types of a new table's columns do
      const auto* create = std::get_if<ast::CreateTableAs>(&inner.node);
      if (create && create->materialized_view && !prepared->parameter_types.empty()) {
        throw sql::SqlError(sqlstate::kFeatureNotSupported, "materialized views may not be defined using bound parameters");
      }
    }
  }
  if (explain) {
    plan->kind = PreparedPlan::Kind::kExplain;
    plan->explain = explain_options(*explain);
    if (plan->explain.analyze && std::holds_alternative<ast::CreateTableAs>(explain->statement->node)) {
      throw sql::not_supported("EXPLAIN ANALYZE of " + std::string(parser::command_tag(*explain->statement)));
    }
    sql::Type type = plan->explain.format == planner::ExplainOptions::Format::kJson ? sql::Type{sql::oid::kJson} : sql::kText;
    prepared->columns = {OutputColumn{"QUERY PLAN", type}};
    prepared->returns_rows = true;
  }
  if (plan->planned.plan) {
    plan->writes = plan->planned.is_compound_write || planner::main_write(*plan->planned.plan) != nullptr;
    plan->needs_snapshot = planner::needs_snapshot(plan->planned.plan);
    plan->scans_memory = scans_memory(*plan->planned.plan);
    std::set<sql::Oid> tables;
    for (const auto& table : planner::tables_of(plan->planned.plan)) tables.insert(table->oid);
    plan->reads_plainly = planner::reads_changed_tables_plainly(plan->planned.plan, tables);
    if (plan->kind == PreparedPlan::Kind::kQuery && !call) plan->direct = make_direct_program(plan->planned.direct);
    prepared->has_direct_run = plan->direct != nullptr;
    plan->depends_on_sizes = !sizes.empty() || !planner::tables_whose_sizes_count(plan->planned.plan).empty();
  }
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - started;
  plan->planning_milliseconds = elapsed.count();
  counts_of_thread().planning.note(static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - started).count()));
  prepared->text = std::move(text);
  prepared->statement = std::move(statement);
  prepared->function = std::move(scope.function);
  prepared->variables = std::move(scope.variables);
  prepared->plan = std::move(plan);
  return prepared;
}

asio::awaitable<planner::TableSizes> RedisEngine::sizes_of(std::vector<std::shared_ptr<const sql::TableDef>> tables) {
  planner::TableSizes sizes;
  std::erase_if(tables, [](const auto& table) { return table->is_mapped(); });
  if (tables.empty()) co_return sizes;
  CommandBatch batch;
  std::vector<std::vector<std::int16_t>> columns;  // whose values an index lists, by table
  for (const auto& table : tables) {
    const sql::TableKeys keys(*table);
    batch.add("ZCARD", keys.all_rows());
    columns.emplace_back();
    for (const sql::Structure& structure : sql::structures_of(*table)) {
      if (!structure.readable || structure.kind != sql::Structure::Kind::kSets || structure.columns.size() != 1) continue;
      batch.add("SCARD", keys.values(structure.columns));
      columns.back().push_back(structure.columns[0]);
    }
  }
  const RepliesPtr replies = co_await shared_.execute(std::move(batch));
  std::size_t next = 0;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    planner::TableSize& size = sizes[tables[i]->part_of != 0 ? tables[i]->part_of : tables[i]->oid];
    size.rows += static_cast<double>(replies->integer(next++));
    for (const std::int16_t column : columns[i]) {
      const auto values = static_cast<double>(replies->integer(next++));
      size.values[column] = std::max(size.values[column], values);  // those of the parts overlap
    }
  }
  co_return sizes;
}

asio::awaitable<PreparedPtr> RedisEngine::plan_by_sizes(PreparedPtr prepared, DeclaredParameters parameters, sql::CatalogPtr catalog,
                                                        const SessionState& session) {
  if (!prepared->plan->depends_on_sizes || prepared->plan->kind == PreparedPlan::Kind::kCopy) co_return prepared;
  const planner::TableSizes sizes = co_await sizes_of(planner::tables_whose_sizes_count(prepared->plan->planned.plan));
  if (std::ranges::none_of(sizes, [](const auto& size) { return size.second.rows >= planner::kSmallTable; })) co_return prepared;
  auto work = [&] { return plan(prepared->text, prepared->statement, parameters, *catalog, session, {prepared->function, prepared->variables}, sizes); };
  co_return co_await compute_in_turns(std::move(work));
}

asio::awaitable<PreparedPtr> RedisEngine::prepare(std::string text, std::shared_ptr<const ast::Statement> statement,
                                                  DeclaredParameters parameters, SessionState& session) {
  sql::CatalogPtr known = catalog_at_hand(session);
  if (!known) known = co_await catalog(session);
  // Definitions of an open transaction are not shared.
  const bool has_own = has_own_definitions(session);
  follow_search_path(session, *known, has_own);
  PreparedPtr prepared;
  if (!has_own) prepared = plans_.find_plan(text, parameters, session, known->version);
  (prepared ? counts_of_thread().plan_cache_hits : counts_of_thread().plan_cache_misses).add();
  if (prepared) co_return prepared;
  PlanCache::Conditions conditions{parameters, bind_settings(session, true), {}, false};
  conditions.settings.reads_memory = session.reads_memory;
  // A name that this process does not know may be another's newest table: an error counts only with the catalog of now.
  std::exception_ptr error;
  DiscoveryWait discovery(shared_.own_keyspace(), session);
  while (true) {
    try {
      auto work = [&] { return plan(text, statement, parameters, *known, session); };
      prepared = co_await compute_in_turns(std::move(work));
    } catch (const sql::SqlError& failure) {
      error = std::current_exception();
      discovery.note_error(failure);
    }
    if (prepared) break;
    co_await reload_catalog();
    if (has_own) co_await follow_definitions_of_others(shared_, *session.transaction);
    sql::CatalogPtr now = co_await catalog(session);
    if (now->version == known->version && !co_await discovery.wait(known->version)) std::rethrow_exception(error);
    known = std::move(now);
    follow_search_path(session, *known, has_own_definitions(session));
  }
  prepared = co_await plan_by_sizes(prepared, std::move(parameters), known, session);
  if (has_own) co_return prepared;
  conditions.catalog_version = prepared->plan->catalog_version;
  conditions.depends_on_role = prepared->plan->planned.rights.depends_on_role;
  plans_.remember(prepared, std::move(conditions));
  co_return prepared;
}

asio::awaitable<void> RedisEngine::with_definitions(SessionState& session, std::function<void(const sql::CatalogPtr&)> make) {
  sql::CatalogPtr known = catalog_at_hand(session);
  if (!known) known = co_await catalog(session);
  const bool has_own = has_own_definitions(session);
  follow_search_path(session, *known, has_own);
  std::exception_ptr failure;
  try {
    make(known);
  } catch (const sql::SqlError&) {
    failure = std::current_exception();
  }
  if (!failure) co_return;
  if (has_own || !co_await reload_catalog()) std::rethrow_exception(failure);
  known = co_await catalog(session);
  follow_search_path(session, *known, has_own);
  make(known);
}

asio::awaitable<PreparedPtr> RedisEngine::replan(const Prepared& prepared, SessionState& session, bool may_change_columns) {
  co_await reload_catalog();
  if (has_own_definitions(session)) co_await follow_definitions_of_others(shared_, *session.transaction);
  sql::CatalogPtr now = co_await catalog(session);
  follow_search_path(session, *now, has_own_definitions(session));
  auto work = [&] { return plan(prepared.text, prepared.statement, prepared.parameter_types, *now, session, {prepared.function, prepared.variables}); };
  PreparedPtr again = co_await compute_in_turns(std::move(work));
  again = co_await plan_by_sizes(again, prepared.parameter_types, now, session);
  if (may_change_columns) co_return again;
  bool same = again->columns.size() == prepared.columns.size();
  for (std::size_t i = 0; same && i < prepared.columns.size(); ++i) same = again->columns[i].type == prepared.columns[i].type;
  if (!same) throw sql::SqlError(sqlstate::kFeatureNotSupported, "cached plan must not change result type").routine("RevalidateCachedQuery");
  co_return again;
}

DirectRunPtr RedisEngine::run_directly(const Prepared& prepared, std::span<const sql::Datum> parameters, SessionState& session) {
  const PreparedPlan& plan = *prepared.plan;
  // The first reads of a transaction: what it has changed would have to be laid over the rows.
  const Transaction* const transaction = session.transaction.get();
  const bool is_plain = (transaction == nullptr || !transaction->has_changed()) && session.function_depth == 0 && session.modes.isolation == IsolationLevel::kReadCommitted &&
                        !session.advisory_locks && session.auto_explain.min_duration < 0;
  SharedConnection* const connection = shared_.connection();
  if (!plan.direct || !is_plain || connection == nullptr || !exclusive_.empty()) return nullptr;
  sql::CatalogPtr now = catalog_at_hand(session);
  if (!now || now->version != plan.catalog_version) return nullptr;
  follow_search_path(session, *now, false);
  const bool is_planned_so = plan.search_path == session.search_path && plan.row_security == session.row_security;
  if (!is_planned_so || !has_checked_rights(plan, session)) return nullptr;
  if (transaction != nullptr) session.has_queried = true;
  return plan.direct->start(*connection, parameters, std::move(now), session.counters, session.relation_counts);
}

asio::awaitable<PreparedPtr> RedisEngine::refresh(PreparedPtr prepared, SessionState& session) {
  // Definitions that another process changed are noticed when the statement runs.
  sql::CatalogPtr now = co_await catalog(session);
  follow_search_path(session, *now, has_own_definitions(session));
  const bool is_other_role = prepared->plan->planned.rights.depends_on_role && prepared->plan->role != session.role;
  bool moved = prepared->plan->catalog_version != now->version || prepared->plan->search_path != session.search_path || is_other_role ||
               prepared->plan->row_security != session.row_security;
  if (!moved || prepared->plan->kind == PreparedPlan::Kind::kDefinition) co_return prepared;
  co_return co_await replan(*prepared, session);
}

planner::PhysicalPlan RedisEngine::plan_over_changes(const Prepared& prepared, const sql::CatalogSnapshot& catalog,
                                                     const std::set<sql::Oid>& changed_tables, const SessionState& session) {
  const PreparedPlan& plan = *prepared.plan;
  if (planner::reads_changed_tables_plainly(plan.planned.plan, changed_tables)) return plan.planned.plan;
  planner::PhysicalPlan& found = plan.over_changes[changed_tables];
  if (!found) {
    planner::BindSettings settings = bind_settings(session, true);
    settings.reads_memory = memory_ != nullptr && session.reads_memory;
    settings.function = prepared.function;
    settings.variables = prepared.variables;
    settings.calls_procedure = plan.command_tag == "CALL";
    const auto* copy = std::get_if<ast::Copy>(&plan.statement->node);
    found = copy ? planner::plan_copy(*copy, catalog, settings, changed_tables).rows.plan
                 : planner::plan(*plan.statement, catalog, prepared.parameter_types, settings, changed_tables, plan.sizes).plan;
  }
  return found;
}

asio::awaitable<std::exception_ptr> RedisEngine::named_failure(std::exception_ptr failure,
                                                               const SessionState& session) {
  bool has_bad_key = false;
  try {
    std::rethrow_exception(failure);
  } catch (const BadKeyError&) {
    has_bad_key = true;
  } catch (...) {
  }
  if (!has_bad_key) co_return failure;
  try {
    const sql::CatalogPtr catalog = catalog_;
    std::optional<sql::SqlError> named = co_await named_bad_own_key(shared_, home_, catalog);
    if (!named && catalog) {
      std::vector<std::shared_ptr<const sql::TableDef>> tables = catalog->managed_tables();
      // The name of a key is a part of a row that policies may hide.
      std::erase_if(tables, [&](const std::shared_ptr<const sql::TableDef>& table) {
        return sql::row_security(*table, session.role, *sql::known_roles(), session.database) ==
               sql::RowSecurity::kEnabled;
      });
      named = co_await named_bad_key(shared_, catalog, std::move(tables));
    }
    if (named) co_return std::make_exception_ptr(*named);
  } catch (const std::exception&) {  // the failure itself says more
  }
  co_return failure;
}

}  // namespace redquel::executor
