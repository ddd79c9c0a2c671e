#include "executor/engine/kept_statements.h"

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "executor/ddl/temporary.h"
#include "sql/functions/quote.h"

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

template <class Statement, class... Kinds>
constexpr bool kIsOneOf = (std::is_same_v<Statement, Kinds> || ...);

bool concerns_database_or_role(ast::ObjectType object) {
  return object == ast::ObjectType::kDatabase || object == ast::ObjectType::kRole || object == ast::ObjectType::kUserMapping;
}

/// Returns true if the statement changes nothing but definitions that need no key of redquel's own.
bool only_defines(const ast::Statement& statement) {
  if (makes_temporary(statement)) return false;
  return std::visit(
      []<class Statement>(const Statement& node) {
        if constexpr (kIsOneOf<Statement, ast::Drop, ast::Rename>) return !concerns_database_or_role(node.object);
        if constexpr (std::is_same_v<Statement, ast::CreateSchema>) return node.elements.empty();
        return kIsOneOf<Statement, ast::CreateForeignTable, ast::ImportForeignSchema, ast::CreateIndex, ast::CreateView, ast::CreateEnum, ast::AlterEnum,
                        ast::CreateDomain, ast::AlterDomain, ast::CreateComposite, ast::CreateRange, ast::CreateFunction, ast::AlterFunction,
                        ast::AlterTable, ast::SetSchema, ast::Comment>;
      },
      statement.node);
}

}  // namespace

bool refuses_definition(const ast::Statement& statement, const SessionState& session) {
  return session.only_looks ? !only_defines(statement) : session.modes.read_only;
}

std::string statement_with_path(const std::string& text, const SessionState& session, const sql::CatalogSnapshot& catalog) {
  const std::size_t last = text.find_last_not_of(" \t\r\n;");
  std::string statement = text.substr(0, last + 1) + ";";
  std::vector<std::string> path = session.search_path;
  std::erase_if(path, [&](const std::string& schema) { return !catalog.schemas.contains(schema); });
  if (path.size() == 1 && path.front() == "public") return statement;
  std::string set = "SET search_path = ";
  for (const std::string& schema : path) set += (&schema == &path.front() ? "" : ", ") + sql::quote_identifier(schema);
  if (path.empty()) set += "''";
  return set + ";\n" + statement + "\nRESET search_path;";
}

}  // namespace redquel::executor
