#include "planner/bind/bind_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sql/catalog/row_types.h"
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
    "aclitem",  "gtsvector", "refcursor", "regcollation", "regconfig", "regdictionary", "regoper",
    "regoperator", "tsquery", "tsvector", "txid_snapshot", "pg_snapshot", "xml"};

sql::UserTypePtr find_user_type(const ast::TypeName& name, const sql::CatalogSnapshot& catalog,
                                const std::vector<std::string>& search_path) {
  if (name.names.size() > 2) return nullptr;
  const std::string_view schema = name.names.size() == 2 ? std::string_view(name.names[0]) : std::string_view();
  if (sql::UserTypePtr type = catalog.find_user_type(schema, name.names.back(), search_path)) return type;
  const auto table = catalog.find_table(schema, name.names.back(), search_path);
  return table ? sql::row_type_of(*table) : nullptr;
}

[[noreturn]] void throw_missing_type(const ast::TypeName& name, const sql::CatalogSnapshot& catalog) {
  if (name.names.size() == 2 && name.names[0] != "pg_catalog" && name.names[0] != "information_schema" &&
      !catalog.schemas.contains(name.names[0])) {
    throw SqlError("3F000", fmt::format("schema \"{}\" does not exist", name.names[0])).at(name.offset);
  }
  const std::string_view brackets = name.array_bounds.empty() ? "" : "[]";
  throw SqlError("42704", fmt::format("type \"{}{}\" does not exist", fmt::join(name.names, "."), brackets)).at(name.offset);
}

}  // namespace

DeclaredType bind_declared_type(const ast::TypeName& name, const sql::CatalogSnapshot& catalog,
                                const std::vector<std::string>& search_path) {
  if (name.percent_type) throw sql::not_supported("%TYPE", name.offset);
  if (name.set_of) throw SqlError("42601", "type cannot be a set").at(name.offset);
  const sql::TypeInfo* info = nullptr;
  const bool built_in_schema = name.names.size() == 2 && name.names[0] == "pg_catalog";
  if (name.names.size() == 1 || built_in_schema) info = sql::find_type(name.names.back());
  const bool missing = std::ranges::find(kMissingTypes, name.names.back()) != std::end(kMissingTypes);
  sql::Oid domain = 0;
  std::int32_t domain_modifier = -1;
  if (info == nullptr) {
    if (const sql::UserTypePtr user = find_user_type(name, catalog, search_path)) {
      info = sql::find_type(user->oid);
      if (user->kind == sql::UserType::Kind::kDomain) {
        if (!name.array_bounds.empty()) throw sql::not_supported("an array of a domain", name.offset);
        domain = user->oid;
        domain_modifier = user->base.modifier;
        if (!name.modifiers.empty()) {
          throw SqlError("42601", fmt::format("type modifier is not allowed for type \"{}\"", user->name)).at(name.offset);
        }
        info = sql::find_type(user->base.oid);
      }
    }
  }
  if (info == nullptr && missing && (name.names.size() == 1 || built_in_schema)) {
    throw sql::not_supported(fmt::format("type {}", name.names.back()), name.offset);
  }
  if (info == nullptr) throw_missing_type(name, catalog);
  sql::Type type{info->oid, domain_modifier};
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
  return {type, domain};
}

sql::Type bind_type(const ast::TypeName& name, const sql::CatalogSnapshot& catalog, const std::vector<std::string>& search_path) {
  return bind_declared_type(name, catalog, search_path).type;
}

}  // namespace redquel::planner
