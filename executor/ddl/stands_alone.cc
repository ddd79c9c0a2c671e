#include "executor/ddl/stands_alone.h"

#include "executor/ddl/role_statements.h"

namespace redquel::executor {

namespace ast = parser::ast;

bool stands_alone(const ast::Statement& statement) {
  if (const auto* vacuum = std::get_if<ast::Vacuum>(&statement.node)) return !vacuum->analyze_only;
  if (const auto* index = std::get_if<ast::CreateIndex>(&statement.node)) return index->concurrently;
  if (const auto* drop = std::get_if<ast::Drop>(&statement.node)) return drop->concurrently || drop->object == ast::ObjectType::kDatabase;
  if (const auto* discard = std::get_if<ast::Discard>(&statement.node)) return discard->target == ast::DiscardTarget::kAll;
  if (const auto* rename = std::get_if<ast::Rename>(&statement.node)) return rename->object == ast::ObjectType::kRole;
  if (const auto* owner = std::get_if<ast::AlterOwner>(&statement.node)) return owner->object == ast::ObjectType::kDatabase;
  if (const auto* comment = std::get_if<ast::Comment>(&statement.node)) return comment->object == ast::ObjectType::kRole;
  if (const auto* grant = std::get_if<ast::Grant>(&statement.node)) return grant->object == ast::ObjectType::kDatabase && !grant->defaults;
  if (const auto* role = std::get_if<ast::AlterRole>(&statement.node)) return !concerns_owned_objects(*role);
  const auto& node = statement.node;
  return std::holds_alternative<ast::CreateDatabase>(node) || std::holds_alternative<ast::CreateRole>(node) ||
         std::holds_alternative<ast::DropRole>(node) || std::holds_alternative<ast::GrantRole>(node);
}

}  // namespace redquel::executor
