#include "executor/engine/function_execution.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/engine/redis_engine.h"
#include "executor/roles/access.h"
#include "executor/roles/acting_role.h"
#include "executor/runtime/function_settings.h"
#include "executor/transaction/transaction.h"
#include "parser/parse.h"
#include "planner/bind/function_body.h"
#include "planner/bind/sql_function.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::FunctionDef;
using sql::SqlError;

namespace {

/// Calls within calls. PostgreSQL's stack of 2 MB ends at about as many.
constexpr std::size_t kMaxDepth = 1000;
constexpr std::size_t kCachedPlans = 500;

class Depth {
 public:
  explicit Depth(SessionState& session) : session_(session) { ++session_.function_depth; }
  ~Depth() { --session_.function_depth; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  SessionState& session_;
};

/// The error of a statement in a body: its place is in the body, not in the text that the client sent.
SqlError in_body(const SqlError& error, const std::string& place) {
  const std::string context = error.context().empty() ? place : error.context() + "\n" + place;
  return SqlError(error.sqlstate(), error.message())
      .detail(error.detail())
      .hint(error.hint())
      .context(context)
      .schema(error.schema())
      .table(error.table())
      .column(error.column())
      .data_type(error.data_type())
      .constraint(error.constraint());
}

bool writes(const ast::Statement& statement) {
  const auto* select = std::get_if<ast::Select>(&statement.node);
  if (select == nullptr) return true;
  if (select->into || !select->locking.empty()) return true;
  return select->with && std::ranges::any_of(select->with->expressions, [](const ast::CommonTableExpression& with) {
    return !std::holds_alternative<ast::Select>(with.statement->node);
  });
}

/// One statement of a body, with all its rows, or its first.
asio::awaitable<std::vector<sql::Batch>> run_statement(RedisEngine& engine, SessionState& session, PreparedPtr statement,
                                                       std::vector<sql::Datum> arguments, bool keeps_rows, bool first_only) {
  std::vector<sql::Batch> rows;
  std::size_t memory = 0;
  const bool stops = first_only && std::holds_alternative<ast::Select>(statement->statement->node) && !statement->plan->planned.is_compound_write;
  const std::unique_ptr<Execution> run = engine.execute(std::move(statement), std::move(arguments), session);
  while (std::optional<sql::Batch> batch = co_await run->next()) {
    if (!keeps_rows || batch->rows == 0) continue;
    if (first_only) {
      if (rows.empty()) {
        const std::uint32_t first = 0;
        rows.push_back(batch->gather({&first, 1}));
      }
      if (stops) break;
      continue;
    }
    memory += batch->memory();
    if (memory > session.work_mem) {
      throw sql::out_of_memory().detail("The result of a function in LANGUAGE sql exceeds work_mem.");
    }
    rows.push_back(*std::move(batch));
  }
  co_return rows;
}

/// Rows of the last statement as the function's.
std::vector<sql::Batch> as_results(const std::vector<sql::Batch>& rows, const FunctionDef& function, const Prepared& last,
                                   const std::vector<sql::ResultColumn>& wanted, const SessionState& session, const sql::CatalogSnapshot& catalog) {
  std::vector<sql::ResultColumn> columns;
  for (const OutputColumn& column : last.columns) columns.push_back({column.name, column.type});
  const std::vector<sql::ExpressionPtr> results = planner::function_results(function, columns, wanted.empty(), session.settings);
  sql::EvaluationContext context;
  context.settings = &session.settings;
  context.user = session.user;
  context.database = session.database;
  context.search_path = session.search_path;
  context.catalog = &catalog;
  std::vector<sql::Batch> converted;
  for (const sql::Batch& batch : rows) {
    sql::Batch& made = converted.emplace_back();
    made.rows = batch.rows;
    for (const sql::ExpressionPtr& result : results) made.columns.push_back(sql::evaluate(*result, batch, context));
  }
  return converted;
}

std::string key_of(sql::Oid function, const std::vector<sql::Type>& types, const SessionState& session) {
  std::string key = std::to_string(function);
  for (const sql::Type type : types) key += ":" + std::to_string(type.oid);
  for (const std::string& schema : session.search_path) key += "/" + schema;
  return key + "/" + std::to_string(session.role);
}

}  // namespace

void check_body_statement(const FunctionDef& function, const ast::Statement& statement) {
  const auto& node = statement.node;
  const bool is_control = std::holds_alternative<ast::Transaction>(node);
  const std::string tag(parser::command_tag(statement));
  if (is_control) throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("{} is not allowed in an SQL function", tag));
  if (const auto* copy = std::get_if<ast::Copy>(&node); copy != nullptr && !copy->file) {
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot COPY to/from client in an SQL function");
  }
  if (function.volatility != FunctionDef::Volatility::kVolatile && writes(statement)) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("{} is not allowed in a non-volatile function", tag));
  }
}

asio::awaitable<FunctionPlanPtr> RedisEngine::plan_function(sql::Oid function, const std::vector<sql::Type>& types, SessionState& session) {
  sql::CatalogPtr known = co_await catalog(session);
  const bool has_own = session.transaction && session.transaction->catalog();
  follow_search_path(session, *known, has_own);
  const std::string key = key_of(function, types, session);
  const auto found = function_plans_.find(key);
  if (!has_own && found != function_plans_.end() && found->second->catalog_version == known->version &&
      found->second->settings == session.settings) {
    co_return found->second;
  }
  const auto made = std::make_shared<FunctionPlan>();
  const auto make = [&](const sql::CatalogSnapshot& definitions) {
    const auto definition = definitions.functions.find(function);
    if (definition == definitions.functions.end()) {
      throw SqlError(sqlstate::kUndefinedFunction, fmt::format("function with OID {} does not exist", function));
    }
    made->function = planner::concrete_function(definitions, definition->second, types);
    made->catalog_version = definitions.version;
    made->settings = session.settings;
    made->statements.clear();
    std::vector<sql::Type> declared;
    for (const FunctionDef::Parameter& parameter : made->function->parameters) declared.push_back(parameter.type);
    for (planner::BodyStatement& one : planner::parse_function_body(*made->function)) {
      check_body_statement(*made->function, *one.statement);
      made->statements.push_back(plan(std::move(one.text), std::move(one.statement), declared, definitions, session, made->function));
    }
    std::optional<std::vector<sql::Type>> results;
    if (!made->statements.empty() && made->statements.back()->returns_rows) {
      results.emplace();
      for (const OutputColumn& column : made->statements.back()->columns) results->push_back(column.type);
    }
    planner::check_result_types(*made->function, results, session.settings);
  };
  std::optional<SqlError> failure;
  try {
    make(*known);
  } catch (const SqlError& error) {
    failure = error;
  }
  if (failure && !has_own && co_await reload_catalog()) {
    known = co_await catalog(session);
    failure.reset();
    try {
      make(*known);
    } catch (const SqlError& error) {
      failure = error;
    }
  }
  if (failure) {
    const std::string name = made->function ? made->function->name : "?";
    throw in_body(*failure, fmt::format("SQL function \"{}\" during startup", name));
  }
  if (!has_own) {
    if (function_plans_.size() >= kCachedPlans) function_plans_.clear();
    function_plans_[key] = made;
  }
  co_return made;
}

asio::awaitable<std::vector<sql::Batch>> run_sql_function(RedisEngine& engine, SessionState& session, FunctionInvocation invocation) {
  if (session.function_depth >= kMaxDepth) {
    throw sql::stack_depth_exceeded()
        .hint("Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's stack depth limit "
              "is adequate.");
  }
  const Depth depth(session);
  const sql::CatalogPtr definitions = co_await engine.catalog(session);
  const auto definition = definitions->functions.find(invocation.function);
  std::optional<ActingRole> definer;
  std::optional<FunctionSettings> settings;  // they decide what the names in the body mean, too
  if (definition != definitions->functions.end()) {
    if (definition->second->acl) require_rights(session, *definitions, sql::AclKind::kFunction, invocation.function, sql::right::kExecute);
    if (definition->second->is_security_definer()) definer.emplace(session, sql::owner_role(definition->second->owner));
    settings.emplace(session, *definition->second);
  }
  const FunctionPlanPtr plan = co_await engine.plan_function(invocation.function, invocation.types, session);
  FunctionDef function = *plan->function;
  if (function.columns.empty()) {
    for (const sql::ResultColumn& column : invocation.columns) function.columns.push_back({column.name, column.type});
  }
  const bool gives_rows = function.result.oid != sql::oid::kVoid && !(function.procedure && function.columns.empty());
  std::vector<sql::Batch> rows;
  std::size_t number = 0;
  for (const PreparedPtr& statement : plan->statements) {
    ++number;
    const bool is_last = number == plan->statements.size();
    try {
      std::vector<sql::Datum> arguments;
      if (!statement->parameter_types.empty()) arguments = invocation.arguments;
      rows = co_await run_statement(engine, session, statement, std::move(arguments), is_last && gives_rows, !function.returns_set);
      if (is_last && gives_rows) {
        const sql::CatalogPtr catalog = co_await engine.catalog(session);
        rows = as_results(rows, function, *statement, invocation.columns, session, *catalog);
      }
    } catch (const SqlError& error) {
      throw in_body(error, fmt::format("SQL function \"{}\" statement {}", function.name, number));
    }
  }
  co_return rows;
}

}  // namespace redquel::executor
