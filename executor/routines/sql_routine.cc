#include "executor/routines/sql_routine.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/engine/redis_engine.h"
#include "executor/routines/routine_result.h"
#include "parser/parse.h"
#include "planner/bind/function_body.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::FunctionDef;
using sql::SqlError;

namespace {

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

/// 0A000 for statements that no function may have, or none of its volatility.
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

}  // namespace

std::shared_ptr<Routine> SqlRoutine::compile(RedisEngine& engine, std::shared_ptr<const FunctionDef> definition, const sql::CatalogSnapshot& catalog,
                               const SessionState& session) {
  const std::shared_ptr<SqlRoutine> made(new SqlRoutine);
  std::vector<sql::Type> declared;
  for (const FunctionDef::Parameter& parameter : definition->parameters) declared.push_back(parameter.type);
  for (planner::BodyStatement& one : planner::parse_function_body(*definition)) {
    check_body_statement(*definition, *one.statement);
    made->statements_.push_back(
        engine.plan_in_routine(std::move(one.text), std::move(one.statement), declared, catalog, session, {definition, nullptr}));
  }
  std::optional<std::vector<sql::Type>> results;
  if (!made->statements_.empty() && made->statements_.back()->returns_rows) {
    results.emplace();
    for (const OutputColumn& column : made->statements_.back()->columns) results->push_back(column.type);
  }
  planner::check_result_types(*definition, results, session.settings);
  made->function = std::move(definition);
  return made;
}

asio::awaitable<std::vector<sql::Batch>> SqlRoutine::run(RoutineCall& call) const {
  const std::shared_ptr<const FunctionDef> definition = with_columns_of(function, call.invocation);
  const FunctionDef& with_columns = *definition;
  const bool gives_rows = with_columns.result.oid != sql::oid::kVoid && !(with_columns.procedure && with_columns.columns.empty());
  std::vector<sql::Batch> rows;
  std::size_t number = 0;
  for (const PreparedPtr& statement : statements_) {
    ++number;
    const bool is_last = number == statements_.size();
    try {
      std::vector<sql::Datum> arguments;
      if (!statement->parameter_types.empty()) arguments = call.invocation.arguments;
      rows = co_await run_statement(call.engine, call.session, statement, std::move(arguments), is_last && gives_rows, !with_columns.returns_set);
      if (is_last && gives_rows) {
        const sql::CatalogPtr catalog = co_await call.engine.catalog(call.session);
        std::vector<sql::ResultColumn> columns;
        for (const OutputColumn& column : statement->columns) columns.push_back({column.name, column.type});
        rows = as_results(rows, with_columns, columns, call.invocation.columns, call.session, *catalog);
      }
    } catch (const SqlError& error) {
      throw with_context(error, fmt::format("SQL function \"{}\" statement {}", with_columns.name, number));
    }
  }
  co_return rows;
}

}  // namespace redquel::executor
