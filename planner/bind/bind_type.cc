#include "planner/bind/bind_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sql/error.h"

namespace redquel::planner {

using sql::SqlError;
namespace ast = parser::ast;

namespace {

std::int32_t modifier_constant(const ast::Expression& expression, std::uint32_t offset) {
  if (const auto* integer = std::get_if<ast::IntegerLiteral>(&expression.node)) return integer->value;
  if (const auto* call = std::get_if<ast::OperatorCall>(&expression.node);
      call && !call->left && call->name.back() == "-") {
    return -modifier_constant(*call->right, offset);
  }
  throw SqlError("42601", "type modifiers must be simple constants or identifiers").at(offset);
}

/// Types of PostgreSQL 15 that are not built: 0A000 instead of "does not exist".
constexpr std::string_view kMissingTypes[] = {
    "aclitem",  "box",      "cid",     "circle",  "gtsvector", "line",        "lseg",          "money",      "path",
    "pg_lsn",   "point",    "polygon", "refcursor", "regcollation", "regconfig", "regdictionary", "regoper",
    "regoperator", "tid",   "tsquery", "tsvector", "txid_snapshot", "pg_snapshot", "xid", "xid8", "xml"};

}  // namespace

sql::Type bind_type(const ast::TypeName& name) {
  if (name.percent_type) throw sql::not_supported("%TYPE", name.offset);
  if (name.set_of) throw SqlError("42601", "type cannot be a set").at(name.offset);
  const sql::TypeInfo* info = nullptr;
  const bool built_in_schema = name.names.size() == 2 && name.names[0] == "pg_catalog";
  if (name.names.size() == 1 || built_in_schema) info = sql::find_type(name.names.back());
  const bool missing = std::ranges::find(kMissingTypes, name.names.back()) != std::end(kMissingTypes);
  if (info == nullptr && missing && (name.names.size() == 1 || built_in_schema)) {
    throw sql::not_supported(fmt::format("type {}", name.names.back()), name.offset);
  }
  if (info == nullptr) {
    const std::string_view brackets = name.array_bounds.empty() ? "" : "[]";
    throw SqlError("42704", fmt::format("type \"{}{}\" does not exist", fmt::join(name.names, "."), brackets)).at(name.offset);
  }
  sql::Type type{info->oid};
  if (!name.modifiers.empty()) {
    std::vector<std::int32_t> written;
    for (const ast::ExpressionPtr& modifier : name.modifiers)
      written.push_back(modifier_constant(*modifier, name.offset));
    try {
      type.modifier = sql::encode_modifier(info->oid, written);
    } catch (SqlError& error) {
      error.set_position(name.offset);
      throw;
    }
  }
  if (!name.array_bounds.empty()) {
    if (info->array == 0) throw sql::not_supported(fmt::format("type {}[]", info->display_name), name.offset);
    type.oid = info->array;
  }
  return type;
}

}  // namespace redquel::planner
