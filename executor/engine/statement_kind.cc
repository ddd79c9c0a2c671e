#include "executor/engine/statement_kind.h"

#include <algorithm>
#include <variant>

namespace redquel::executor {

namespace ast = parser::ast;

bool is_create_table_as(const ast::Statement& statement) {
  const auto* select = std::get_if<ast::Select>(&statement.node);
  return (select != nullptr && select->into) || std::holds_alternative<ast::CreateTableAs>(statement.node);
}

bool writes_in_with(const ast::Select& query) {
  return query.with && std::ranges::any_of(query.with->expressions, [](const auto& with_query) {
    return !std::holds_alternative<ast::Select>(with_query.statement->node);
  });
}

bool is_definition(const ast::Statement& statement) {
  if (is_create_table_as(statement)) return true;
  const StatementKind kind = std::visit([]<class Statement>(const Statement&) { return statement_kind<Statement>(); }, statement.node);
  return kind == StatementKind::kDefinition || kind == StatementKind::kComposed;
}

}  // namespace redquel::executor
