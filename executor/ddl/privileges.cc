#include "executor/ddl/privileges.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "sql/privileges/right_names.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using ast::ObjectType;
using sql::AclKind;
using sql::SqlError;

namespace {

/// The names, in messages, of the objects of a statement.
struct GrantableKind {
  ObjectType type;
  AclKind kind;
  std::string_view name;
};
constexpr GrantableKind kGrantableKinds[] = {
    {ObjectType::kTable, AclKind::kTable, "relation"},
    {ObjectType::kSequence, AclKind::kSequence, "sequence"},
    {ObjectType::kFunction, AclKind::kFunction, "function"},
    {ObjectType::kProcedure, AclKind::kFunction, "procedure"},
    {ObjectType::kRoutine, AclKind::kFunction, "routine"},
    {ObjectType::kType, AclKind::kType, "type"},
    {ObjectType::kDomain, AclKind::kType, "domain"},
    {ObjectType::kSchema, AclKind::kSchema, "schema"},
    {ObjectType::kDatabase, AclKind::kDatabase, "database"},
    {ObjectType::kLanguage, AclKind::kLanguage, "language"},
    {ObjectType::kLargeObject, AclKind::kLargeObject, "large object"},
    {ObjectType::kTablespace, AclKind::kTablespace, "tablespace"},
    {ObjectType::kForeignDataWrapper, AclKind::kForeignDataWrapper, "foreign-data wrapper"},
    {ObjectType::kForeignServer, AclKind::kForeignServer, "foreign server"},
    {ObjectType::kParameter, AclKind::kParameter, "parameter"},
};

/// 0 for the old privilege RULE. 42601.
sql::Rights right_named(const std::string& name) {
  if (const std::optional<sql::Rights> right = sql::find_right(name)) return *right;
  throw SqlError(sqlstate::kSyntaxError, fmt::format("unrecognized privilege type \"{}\"", name));
}

}  // namespace

SqlError invalid_privilege(sql::Rights right, std::string_view kind) {
  const std::string_view name = right == sql::right::kTemporary ? "TEMP" : sql::right_name(right);
  return SqlError(sqlstate::kInvalidGrantOperation, fmt::format("invalid privilege type {} for {}", name, kind));
}

WrittenRights written_rights(const ast::Grant& grant) {
  WrittenRights written;
  written.is_all = grant.privileges.empty();
  const auto* kind = std::ranges::find(kGrantableKinds, grant.object, &GrantableKind::type);
  if (kind == std::end(kGrantableKinds)) throw sql::not_supported("GRANT on this kind of object");
  // A sequence may be named as a table.
  const bool may_be_sequence = grant.object == ObjectType::kTable && !grant.defaults;
  const sql::Rights possible = sql::all_rights(kind->kind) | (may_be_sequence ? sql::all_rights(AclKind::kSequence) : 0);
  for (const ast::Privilege& privilege : grant.privileges) {
    if (!privilege.columns.empty()) {
      if (grant.defaults) throw SqlError(sqlstate::kInvalidGrantOperation, "default privileges cannot be set for columns");
      if (grant.object != ObjectType::kTable) throw SqlError(sqlstate::kInvalidGrantOperation, "column privileges are only valid for relations");
      const sql::Rights rights = privilege.name.empty() ? sql::all_rights(AclKind::kColumn) : right_named(privilege.name);
      written.of_columns.push_back({rights, privilege.columns});
      continue;
    }
    const sql::Rights right = right_named(privilege.name);
    if ((right & ~possible) != 0) {
      // ALTER DEFAULT PRIVILEGES reads ROUTINES as FUNCTIONS.
      const std::string_view name = grant.defaults && grant.object == ObjectType::kRoutine ? "function" : kind->name;
      throw invalid_privilege(right, name);
    }
    written.rights |= right;
  }
  return written;
}

}  // namespace redquel::executor
