// PREPARE and EXECUTE, SQL's own way to prepared statements.

#include <fmt/format.h>

#include <algorithm>

#include "executor/runtime/clock.h"
#include "parser/deparse.h"
#include "parser/parse.h"
#include "server/session_statements.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/domain_value.h"
#include "sql/types/row_value.h"

namespace redquel::server {

namespace ast = parser::ast;

const PreparedStatementPtr& SessionStatements::find_statement(const std::string& name) const {
  const auto found = statements_.find(name);
  if (found == statements_.end()) {
    throw sql::undefined_prepared_statement(name);
  }
  return found->second;
}

asio::awaitable<std::vector<sql::Datum>> SessionStatements::evaluate_row(std::string text) {
  std::vector<sql::Datum> values;
  std::optional<sql::SqlError> failure;
  try {
    const auto statement = parser::parse_statement(text);
    executor::DeclaredParameters no_parameters;
    executor::PreparedPtr plan = co_await engine_->prepare(std::move(text), statement, no_parameters, state_);
    std::vector<sql::Datum> no_values;
    std::unique_ptr<executor::Execution> run = engine_->execute(plan, no_values, state_);
    const std::optional<sql::Batch> batch = co_await run->next();
    if (!batch || batch->rows != 1) throw sql::SqlError(sqlstate::kInternalError, "argument query gave no row");
    for (const sql::ColumnPtr& column : batch->columns) {
      values.push_back(column->is_encoded() ? column->decode().datum(0) : column->datum(0));
    }
  } catch (const sql::SqlError& error) {
    failure = error.without_position();
  }
  if (failure) throw *failure;
  co_return values;
}

asio::awaitable<void> SessionStatements::store_prepared(PreparedStatementPtr outer) {
  const auto& prepare = std::get<ast::Prepare>(outer->statement->node);
  if (statements_.contains(prepare.name)) {
    throw sql::SqlError(sqlstate::kDuplicatePreparedStatement, fmt::format("prepared statement \"{}\" already exists", prepare.name));
  }
  // Type names mean what they mean in a cast: the engine says which.
  std::vector<sql::Type> types;
  if (!prepare.parameter_types.empty()) {
    std::string text = "SELECT ";
    std::vector<std::size_t> ends;
    for (const ast::TypeName& name : prepare.parameter_types) {
      text += fmt::format("{}NULL::{}", ends.empty() ? "" : ", ", parser::to_sql(name));
      ends.push_back(text.size());
    }
    const auto cast = parser::parse_statement(text);
    std::optional<sql::SqlError> failure;
    try {
      executor::DeclaredParameters no_parameters;
      executor::PreparedPtr plan = co_await engine_->prepare(std::move(text), cast, no_parameters, state_);
      for (const executor::OutputColumn& column : plan->columns) types.push_back(column.type);
    } catch (const sql::SqlError& error) {
      failure = error.without_position();
      if (error.position()) {
        const auto wrong = std::ranges::upper_bound(ends, *error.position()) - ends.begin();
        failure->set_position(prepare.parameter_types[static_cast<std::size_t>(wrong)].offset);
      }
    }
    if (failure) throw *failure;
    // As a column it would be text; as a parameter it gets its type from the statement.
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (parser::to_sql(prepare.parameter_types[i]) == "unknown") types[i] = sql::Type{sql::oid::kUnknown};
    }
  }
  // The inner statement lives as long as the tree that holds it.
  std::shared_ptr<const ast::Statement> inner(outer->statement, prepare.statement.get());
  const SourceText& source = outer->source;
  std::string text = source.text ? source.text->substr(source.base) : std::string();
  const PreparedStatementPtr planned =
      co_await plan_statement(*engine_, source, std::move(text), std::move(inner), std::move(types), state_);
  auto stored = std::make_shared<PreparedStatement>(*planned);
  stored->from_sql = true;
  stored->memory = statement_memory(memory_, stored->source.text ? stored->source.text->size() : 0);
  stored->prepared_at = executor::now_microseconds();
  statements_.insert_or_assign(prepare.name, std::move(stored));
}

namespace {

/// The type of an argument that says it itself; nullopt: the engine knows.
std::optional<sql::Type> literal_type(const ast::Expression& argument) {
  if (std::holds_alternative<ast::StringLiteral>(argument.node) || std::holds_alternative<ast::NullLiteral>(argument.node)) {
    return sql::Type{sql::oid::kUnknown};
  }
  if (std::holds_alternative<ast::IntegerLiteral>(argument.node)) return sql::kInt4;
  if (std::holds_alternative<ast::BooleanLiteral>(argument.node)) return sql::kBool;
  return std::nullopt;
}

asio::awaitable<std::vector<sql::Type>> argument_types(executor::Engine& engine, executor::SessionState& state, const ast::Expressions& arguments) {
  std::vector<sql::Type> types;
  std::string text = "SELECT ";
  bool is_known = true;
  for (const ast::ExpressionPtr& argument : arguments) {
    const std::optional<sql::Type> type = literal_type(*argument);
    types.push_back(type.value_or(sql::Type{}));
    is_known = is_known && type;
    text += (types.size() > 1 ? ", " : "") + parser::to_sql(*argument);
  }
  if (is_known) co_return types;
  std::optional<sql::SqlError> failure;
  try {
    auto statement = parser::parse_statement(text);
    executor::DeclaredParameters no_parameters;
    const executor::PreparedPtr plan = co_await engine.prepare(std::move(text), std::move(statement), no_parameters, state);
    for (std::size_t i = 0; i < types.size() && i < plan->columns.size(); ++i) {
      if (!literal_type(*arguments[i])) types[i] = plan->columns[i].type;
    }
  } catch (const sql::SqlError& error) {
    failure = error.without_position();
  }
  if (failure) throw *failure;
  co_return types;
}

}  // namespace

asio::awaitable<std::vector<sql::Datum>> SessionStatements::evaluate_arguments(const ast::Execute& execute,
                                                                               const PreparedStatement& target) {
  const std::size_t expected = target.parameter_types.size();
  if (execute.arguments.size() != expected) {
    throw sql::SqlError(sqlstate::kSyntaxError, fmt::format("wrong number of parameters for prepared statement \"{}\"", execute.name))
        .detail(fmt::format("Expected {} parameters but got {}.", expected, execute.arguments.size()));
  }
  if (expected == 0) co_return std::vector<sql::Datum>();
  const std::vector<sql::Type> given = co_await argument_types(*engine_, state_, execute.arguments);
  for (std::size_t i = 0; i < expected; ++i) {
    const sql::Type wanted = target.parameter_types[i];
    if (sql::is_row_type(given[i].oid) || sql::can_coerce(given[i], sql::value_type(wanted), sql::CastContext::kAssignment)) continue;
    throw sql::SqlError(sqlstate::kDatatypeMismatch, fmt::format("parameter ${} of type {} cannot be coerced to the expected type {}", i + 1,
                                                                 sql::format_type(sql::Type{given[i].oid}), sql::format_type(wanted)))
        .hint("You will need to rewrite or cast the expression.")
        .at(execute.arguments[i]->start);
  }
  std::string text = "SELECT ";
  for (std::size_t i = 0; i < expected; ++i) {
    text += fmt::format("{}CAST({} AS {})", i == 0 ? "" : ", ", parser::to_sql(*execute.arguments[i]),
                        sql::format_type(sql::value_type(target.parameter_types[i])));
  }
  co_return co_await evaluate_row(std::move(text));
}

asio::awaitable<std::unique_ptr<executor::Execution>> SessionStatements::start_prepared(PreparedStatementPtr outer) {
  const auto& execute_statement = std::get<ast::Execute>(outer->statement->node);
  PreparedStatementPtr target = find_statement(execute_statement.name);
  if (target->columns.size() != outer->columns.size()) {
    throw sql::SqlError(sqlstate::kFeatureNotSupported, "cached plan must not change result type").routine("RevalidateCachedQuery");
  }
  std::vector<sql::Datum> values = co_await evaluate_arguments(execute_statement, *target);
  if (target->plan) {
    executor::PreparedPtr plan = co_await engine_->refresh(target->plan, state_);  // definitions or the search path may have moved
    if (plan != target->plan) {
      auto renewed = std::make_shared<PreparedStatement>(*target);
      renewed->plan = std::move(plan);
      target = renewed;
      statements_.insert_or_assign(execute_statement.name, std::move(renewed));
    }
    ++target->runs;
    co_return engine_->execute(target->plan, std::move(values), state_);
  }
  // Statements of Parse may be anything. EXECUTE of an EXECUTE could go round in circles; others would close the portal that runs.
  if (!target->statement) throw sql::not_supported("EXECUTE of an empty statement");
  const auto& node = target->statement->node;
  if (std::holds_alternative<ast::Execute>(node) || std::holds_alternative<ast::Transaction>(node) ||
      std::holds_alternative<ast::Discard>(node) || std::holds_alternative<ast::ClosePortal>(node)) {
    throw sql::not_supported(fmt::format("EXECUTE of {}", parser::command_tag(*target->statement)));
  }
  co_return execute(std::move(target), std::move(values));
}

asio::awaitable<std::unique_ptr<executor::Execution>> SessionStatements::create_from_prepared(PreparedStatementPtr outer) {
  const auto& create = std::get<ast::CreateTableAs>(outer->statement->node);
  const auto& execute_statement = std::get<ast::Execute>(create.query->node);
  const PreparedStatementPtr target = find_statement(execute_statement.name);
  if (!target->statement || !std::holds_alternative<ast::Select>(target->statement->node)) {
    throw sql::SqlError(sqlstate::kWrongObjectType, "prepared statement is not a SELECT");
  }
  std::vector<sql::Datum> values = co_await evaluate_arguments(execute_statement, *target);
  ++target->runs;
  std::string text = outer->source.text ? outer->source.text->substr(outer->source.base) : std::string();
  executor::DeclaredParameters none;
  const executor::PreparedPtr planned = co_await engine_->prepare(std::move(text), outer->statement, std::move(none), state_);
  auto made = std::make_shared<executor::Prepared>(*planned);
  made->executed = target->statement;
  made->parameter_types = target->parameter_types;
  co_return engine_->execute(std::move(made), std::move(values), state_);
}

namespace {

/// EXPLAIN with the options as they were written.
std::string explain_text(const ast::Explain& explain) {
  std::string options;
  for (const ast::Option& option : explain.options) {
    options += (options.empty() ? "" : ", ") + option.name;
    if (const auto* text = std::get_if<std::string>(&option.value)) options += " " + *text;
    if (const auto* flag = std::get_if<bool>(&option.value)) options += *flag ? " true" : " false";
    if (const auto* number = std::get_if<std::int64_t>(&option.value)) options += " " + std::to_string(*number);
  }
  return options.empty() ? "EXPLAIN " : "EXPLAIN (" + options + ") ";
}

}  // namespace

asio::awaitable<std::unique_ptr<executor::Execution>> SessionStatements::explain_prepared(PreparedStatementPtr outer) {
  const auto& explain = std::get<ast::Explain>(outer->statement->node);
  const auto& execute_statement = std::get<ast::Execute>(explain.statement->node);
  const PreparedStatementPtr target = find_statement(execute_statement.name);
  if (!target->plan) throw sql::not_supported("EXPLAIN of this prepared statement");
  std::vector<sql::Datum> values = co_await evaluate_arguments(execute_statement, *target);
  std::string text = explain_text(explain) + parser::to_sql(*target->plan->statement);
  auto statement = parser::parse_statement(text);
  executor::DeclaredParameters types(target->parameter_types);
  executor::PreparedPtr plan = co_await engine_->prepare(std::move(text), std::move(statement), std::move(types), state_);
  co_return engine_->execute(std::move(plan), std::move(values), state_);
}

sql::SessionNames SessionStatements::names() const {
  sql::SessionNames names;
  const auto text_of = [](const SourceText& source) { return source.text ? *source.text : std::string(); };
  for (const auto& [name, statement] : statements_) {
    if (name.empty()) continue;
    names.statements.push_back({name, text_of(statement->source), statement->prepared_at, statement->parameter_types, statement->from_sql, statement->runs});
  }
  for (const auto& [name, cursor] : cursors_) {
    names.cursors.push_back({name, cursor->statement, cursor->hold, cursor->binary, cursor->scrolls, cursor->created_at});
  }
  for (const auto& [name, portal] : portals_) {
    if (name.empty() || !portal->statement) continue;
    names.cursors.push_back({name, text_of(portal->statement->source), false, false, false, 0});
  }
  const auto by_name = [](auto& list) { std::ranges::sort(list, {}, [](const auto& entry) { return entry.name; }); };
  by_name(names.statements);
  by_name(names.cursors);
  return names;
}

}  // namespace redquel::server
