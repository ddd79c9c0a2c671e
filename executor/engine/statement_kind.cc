#include "executor/engine/statement_kind.h"

#include <algorithm>
#include <variant>

#include "executor/ddl/ddl.h"
#include "executor/ddl/role_statements.h"

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

bool is_notification_statement(const ast::Statement& statement) {
  return std::holds_alternative<ast::Listen>(statement.node) || std::holds_alternative<ast::Notify>(statement.node) ||
         std::holds_alternative<ast::Unlisten>(statement.node);
}

bool is_definition(const ast::Statement& statement) {
  const auto& node = statement.node;
  return is_create_table_as(statement) || is_notification_statement(statement) || std::holds_alternative<ast::LockTable>(node) ||
         std::holds_alternative<ast::RefreshMaterializedView>(node) || std::holds_alternative<ast::ImportForeignSchema>(node) ||
         std::visit([]<class Statement>(const Statement&) { return Definition<Statement>; }, node);
}

}  // namespace redquel::executor
