#include "server/prepared_statement.h"

#include "executor/runtime/clock.h"

namespace redquel::server {

asio::awaitable<PreparedStatementPtr> plan_statement(executor::Engine& engine, SourceText source, std::string text,
                                                     std::shared_ptr<const parser::ast::Statement> statement,
                                                     executor::DeclaredParameters parameters,
                                                     executor::SessionState& state, PreparedStatementPtr before) {
  const std::shared_ptr<const parser::ast::Statement> tree = statement;
  executor::PreparedPtr plan = co_await engine.prepare(std::move(text), std::move(statement), std::move(parameters), state);
  if (before && before->plan == plan) co_return before;
  auto prepared = std::make_shared<PreparedStatement>();
  prepared->source = std::move(source);
  prepared->statement = tree;
  prepared->plan = std::move(plan);
  prepared->parameter_types = prepared->plan->parameter_types;
  prepared->columns = prepared->plan->columns;
  prepared->returns_rows = prepared->plan->returns_rows;
  prepared->prepared_at = executor::now_microseconds();
  co_return prepared;
}

}  // namespace redquel::server
