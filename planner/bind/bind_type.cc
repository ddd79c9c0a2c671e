#include "planner/bind/bind_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sql/catalog/row_types.h"
#include "sql/error.h"
#include "sql/extensions/extension.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables.h"

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
  throw SqlError(sqlstate::kSyntaxError, "type modifiers must be simple constants or identifiers").at(offset);
}

/// Types of PostgreSQL 15 that are not built: 0A000 instead of "does not exist".
constexpr std::string_view kMissingTypes[] = {
    "gtsvector", "xml"};

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
    throw sql::undefined_schema(name.names[0]).at(name.offset);
  }
  const std::string_view brackets = name.array_bounds.empty() ? "" : "[]";
  throw SqlError(sqlstate::kUndefinedObject, fmt::format("type \"{}{}\" does not exist", fmt::join(name.names, "."), brackets)).at(name.offset);
}

/// Multirange types are found by their own names, behind all others of the schema.
sql::Oid find_multirange(const sql::CatalogSnapshot& catalog, std::string_view schema, std::string_view name) {
  for (const auto& [oid, type] : catalog.types) {
    if (type->kind == sql::UserType::Kind::kRange && type->schema == schema && type->range.multirange_name == name) return type->range.multirange;
  }
  return 0;
}

/// table.column%TYPE
DeclaredType type_of_column(const ast::TypeName& name, const sql::CatalogSnapshot& catalog, const std::vector<std::string>& search_path) {
  const std::string written = fmt::format("{}", fmt::join(name.names, "."));
  if (name.names.size() < 2) {
    throw SqlError(sqlstate::kSyntaxError, fmt::format("improper %TYPE reference (too few dotted names): {}", written)).at(name.offset);
  }
  if (name.names.size() > 3) {
    throw SqlError(sqlstate::kSyntaxError, fmt::format("improper %TYPE reference (too many dotted names): {}", written)).at(name.offset);
  }
  const std::string_view schema = name.names.size() == 3 ? std::string_view(name.names[0]) : std::string_view();
  const std::string &relation = name.names[name.names.size() - 2], &column = name.names.back();
  DeclaredType found;
  bool has_column = false;
  if (const auto table = catalog.find_table(schema, relation, search_path)) {
    if (const sql::ColumnDef* own = table->find_column(column)) found = {own->type, own->domain}, has_column = true;
  } else if (const auto view = catalog.find_view(schema, relation, search_path)) {
    const auto own = std::ranges::find(view->columns, column, &sql::ViewDef::Column::name);
    if (own != view->columns.end()) found = {own->type, 0}, has_column = true;
  } else {
    throw SqlError(sqlstate::kUndefinedTable, fmt::format("relation \"{}{}{}\" does not exist", schema, schema.empty() ? "" : ".", relation));
  }
  if (!has_column) {
    throw sql::undefined_column(column, relation);
  }
  if (name.array_bounds.empty()) return found;
  const sql::TypeInfo& info = sql::type_info(found.domain != 0 ? found.domain : found.type.oid);
  if (found.domain != 0 && info.array != 0) return {sql::Type{info.array}, 0};
  if (info.array == 0) throw sql::not_supported("an array of this %TYPE", name.offset);
  return {sql::Type{info.array, found.type.modifier}, 0};
}

}  // namespace

std::optional<sql::Oid> find_made_type(const ast::QualifiedName& names, const sql::CatalogSnapshot& catalog,
                                       const std::vector<std::string>& search_path) {
  if (names.size() > 2) return std::nullopt;
  const std::vector<std::string> schemas = names.size() == 2 ? std::vector<std::string>{names[0]} : search_path;
  for (const std::string& schema : schemas) {
    if (const sql::UserTypePtr type = catalog.find_user_type(schema, names.back(), {})) return type->oid;
    if (const sql::Oid type = sql::find_extension_type(catalog, schema, names.back())) return type;
    if (const sql::Oid multirange = find_multirange(catalog, schema, names.back())) return multirange;
  }
  return std::nullopt;
}

DeclaredType bind_declared_type(const ast::TypeName& name, const sql::CatalogSnapshot& catalog,
                                const std::vector<std::string>& search_path) {
  if (name.percent_type) return type_of_column(name, catalog, search_path);
  if (name.set_of) throw SqlError(sqlstate::kSyntaxError, "type cannot be a set").at(name.offset);
  const sql::TypeInfo* info = nullptr;
  const bool built_in_schema = name.names.size() == 2 && name.names[0] == "pg_catalog";
  if (name.names.size() == 1 || built_in_schema) info = sql::find_type(name.names.back());
  const bool missing = std::ranges::find(kMissingTypes, name.names.back()) != std::end(kMissingTypes);
  sql::Oid domain = 0;
  std::int32_t domain_modifier = -1;
  if (name.names.size() == 2 && name.names[0] == "information_schema") {
    if (const std::optional<sql::Type> under = sql::information_schema_domain(name.names[1])) {
      info = sql::find_type(under->oid);
      domain_modifier = under->modifier;
    }
  }
  if (info == nullptr) {
    if (const sql::UserTypePtr user = find_user_type(name, catalog, search_path)) {
      info = sql::find_type(user->oid);
      if (user->kind == sql::UserType::Kind::kDomain) {
        domain = user->oid;
        domain_modifier = user->base.modifier;
        if (!name.modifiers.empty()) {
          throw SqlError(sqlstate::kSyntaxError, fmt::format("type modifier is not allowed for type \"{}\"", user->name)).at(name.offset);
        }
        if (name.array_bounds.empty()) info = sql::find_type(user->base.oid);
      }
    } else if (const std::optional<sql::Oid> made = find_made_type(name.names, catalog, search_path)) {
      info = sql::find_type(*made);
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
    if (domain != 0) return {sql::Type{info->array}, 0};
  }
  return {type, domain};
}

sql::Type bind_type(const ast::TypeName& name, const sql::CatalogSnapshot& catalog, const std::vector<std::string>& search_path) {
  return bind_declared_type(name, catalog, search_path).type;
}

}  // namespace redquel::planner
