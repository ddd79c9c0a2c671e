// Calls that mean more than the values of their arguments: COLLATION FOR, pg_column_size() of a column, pg_typeof() of a domain's value.

#include <fmt/format.h>

#include "parser/deparse.h"
#include "planner/bind/ast_walk.h"
#include "planner/bind/bind_type.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/plan_nodes.h"
#include "sql/error.h"
#include "sql/functions/column_size.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// The first COLLATE in an expression, subqueries apart; null: there is none.
const ast::Collate* find_collate(const ast::Expression& expression) {
  if (const auto* collate = std::get_if<ast::Collate>(&expression.node)) return collate;
  const ast::Collate* found = nullptr;
  for_each_child(expression, [&](const ast::Expression& child) {
    if (found == nullptr) found = find_collate(child);
  });
  return found;
}

/// The domain as a regtype, once the value is computed.
ExpressionPtr type_of_domain(sql::Oid domain, const ExpressionPtr& value, std::optional<std::uint32_t> offset) {
  const ExpressionPtr type = sql::make_constant(sql::Type{sql::oid::kRegtype}, static_cast<std::int32_t>(domain));
  sql::CaseCall call{{{sql::make_expression(sql::kBool, sql::NullTest{value, false}), type}}, type};
  return sql::make_expression(type->type, std::move(call), offset);
}

/// The domain that a cast or a column is declared with; 0: none. Values themselves do not know it.
sql::Oid declared_domain(const BindState& state, const QueryLevel& level, const ast::Expression& written, const sql::Expression& value) {
  if (const auto* cast = std::get_if<ast::TypeCast>(&written.node)) {
    return bind_declared_type(cast->type, state.catalog, state.settings.search_path).domain;
  }
  for (const RelationPtr& relation : level.range_table) {
    if (!relation->table || relation->is_join) continue;
    for (std::size_t i = 0; i < relation->table->columns.size() && i < relation->columns.size(); ++i) {
      if (sql::equal(*relation->columns[i].value, value)) return relation->table->columns[i].domain;
    }
  }
  return 0;
}

}  // namespace

ExpressionPtr ExpressionBinder::bind_special_call(const ast::FunctionCall& function, const std::string& name, const Whole& whole) {
  if (function.arguments.size() != 1 || function.star || function.over) return nullptr;
  const ast::Expression& written = *function.arguments[0].value;
  if (name == "pg_collation_for") {
    const ExpressionPtr value = bind(written);
    if (is_unknown(*value)) return sql::make_expression(sql::kText, sql::Constant{}, start(whole));
    if (!is_collatable(value->type)) {
      throw SqlError("42804", fmt::format("collations are not supported by type {}", sql::format_type(sql::Type{value->type.oid})));
    }
    const ast::Collate* collate = find_collate(written);
    const std::string collation = collate != nullptr ? collate->collation.back() : value->type == sql::kName ? "C" : "default";
    return sql::make_expression(sql::kText, sql::Constant{parser::quote_identifier(collation)}, start(whole));
  }
  const bool may_be_domain = std::holds_alternative<ast::TypeCast>(written.node) || std::holds_alternative<ast::ColumnRef>(written.node);
  if (name == "pg_typeof" && may_be_domain) {
    const ExpressionPtr value = bind(written);
    const sql::Oid domain = declared_domain(state_, level_, written, *value);
    return domain != 0 ? type_of_domain(domain, value, start(whole)) : with_offset(call(name, {value}, token(whole)), start(whole));
  }
  if (name == "pg_column_size" && std::holds_alternative<ast::ColumnRef>(written.node)) {
    const ExpressionPtr value = bind(written);
    if (!std::holds_alternative<sql::ColumnRef>(value->node)) return call(name, {value}, token(whole));
    return sql::make_expression(sql::kInt4, sql::FunctionCall{&sql::stored_column_size(), {value}}, start(whole));
  }
  return nullptr;
}

}  // namespace redquel::planner
