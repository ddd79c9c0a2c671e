#include "executor/ddl/privileges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using ast::ObjectType;
using sql::SqlError;

namespace {

constexpr std::string_view kAllPrivileges[] = {"select", "insert", "update", "delete",    "truncate", "references", "trigger",
                                               "usage",  "execute", "create", "temporary", "temp",     "connect"};

/// What objects of a kind can be granted, with a blank behind each, and how messages call them.
struct GrantableKind {
  ObjectType type;
  std::string_view privileges, name;
};
constexpr GrantableKind kGrantableKinds[] = {
    {ObjectType::kTable, "select insert update delete truncate references trigger ", "relation"},
    {ObjectType::kSequence, "select update usage ", "sequence"},
    {ObjectType::kFunction, "execute ", "function"},
    {ObjectType::kProcedure, "execute ", "procedure"},
    {ObjectType::kRoutine, "execute ", "routine"},
    {ObjectType::kType, "usage ", "type"},
    {ObjectType::kDomain, "usage ", "domain"},
    {ObjectType::kSchema, "usage create ", "schema"},
    {ObjectType::kDatabase, "create temporary temp connect ", "database"},
    {ObjectType::kLanguage, "usage ", "language"},
};

bool is_among(std::string_view privileges, const std::string& name) { return privileges.find(name + " ") != std::string_view::npos; }

std::string in_capitals(std::string word) {
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return word;
}

void check_privilege(const ast::Grant& grant, const GrantableKind& kind, const ast::Privilege& privilege) {
  const auto refuse = [&](std::string_view what) {
    throw SqlError(sqlstate::kInvalidGrantOperation, fmt::format("invalid privilege type {} for {}", in_capitals(privilege.name), what));
  };
  if (std::ranges::find(kAllPrivileges, privilege.name) == std::end(kAllPrivileges)) {
    throw SqlError(sqlstate::kSyntaxError, fmt::format("unrecognized privilege type \"{}\"", privilege.name));
  }
  if (!privilege.columns.empty()) {
    if (grant.defaults) throw SqlError(sqlstate::kInvalidGrantOperation, "default privileges cannot be set for columns");
    if (kind.type != ObjectType::kTable) throw SqlError(sqlstate::kInvalidGrantOperation, "column privileges are only valid for relations");
    if (!is_among("select insert update references ", privilege.name)) refuse("column");
    return;
  }
  if (is_among(kind.privileges, privilege.name)) return;
  // A sequence may be granted as a table.
  const bool is_of_sequence = kind.type == ObjectType::kTable && !grant.defaults && privilege.name == "usage";
  if (!is_of_sequence) refuse(grant.defaults && kind.type == ObjectType::kRoutine ? "function" : kind.name);
}

}  // namespace

void check_privileges(const ast::Grant& grant) {
  const auto* kind = std::ranges::find(kGrantableKinds, grant.object, &GrantableKind::type);
  if (kind == std::end(kGrantableKinds)) return;
  for (const ast::Privilege& privilege : grant.privileges) {
    if (!privilege.name.empty()) check_privilege(grant, *kind, privilege);
  }
}

void check_grant_option(const ast::Grant& grant) {
  if (!grant.grant || !grant.grant_option) return;
  if (std::ranges::find(grant.grantees, "public") != grant.grantees.end()) {
    throw SqlError(sqlstate::kInvalidGrantOperation, "grant options can only be granted to roles");
  }
}

}  // namespace redquel::executor
