#include "executor/ddl/stands_alone.h"

namespace redquel::executor {

namespace ast = parser::ast;

bool stands_alone(const ast::Statement& statement) {
  if (const auto* vacuum = std::get_if<ast::Vacuum>(&statement.node)) return !vacuum->analyze_only;
  if (const auto* index = std::get_if<ast::CreateIndex>(&statement.node)) return index->concurrently;
  if (const auto* drop = std::get_if<ast::Drop>(&statement.node)) return drop->concurrently || drop->object == ast::ObjectType::kDatabase;
  if (const auto* discard = std::get_if<ast::Discard>(&statement.node)) return discard->target == ast::DiscardTarget::kAll;
  return std::holds_alternative<ast::CreateDatabase>(statement.node);
}

}  // namespace redquel::executor
