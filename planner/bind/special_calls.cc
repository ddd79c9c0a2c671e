// Calls that mean more than the values of their arguments: COLLATION FOR, pg_column_size() of a column, pg_typeof() of a domain's value,
// pg_blocking_pids().

#include <fmt/format.h>

#include "parser/deparse.h"
#include "planner/bind/bind_type.h"
#include "planner/bind/collation.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/sql_function.h"
#include "sql/error.h"
#include "sql/functions/column_size.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

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

/// pg_blocking_pids() as a query: whom pg_locks says that a process waits for.
std::shared_ptr<const sql::FunctionDef> blocking_processes() {
  static const auto kFunction = [] {
    sql::FunctionDef function;
    function.oid = 2561;
    function.schema = "pg_catalog";
    function.name = "pg_blocking_pids";
    function.parameters.push_back({.name = "", .type = sql::kInt4, .default_sql = ""});
    function.result = sql::Type{sql::oid::kInt4Array};
    function.strict = true;
    function.body =
        "SELECT coalesce(array_agg(DISTINCT holder.pid), '{}') FROM pg_catalog.pg_locks waiting JOIN pg_catalog.pg_locks holder "
        "ON holder.locktype = 'transactionid' AND holder.granted AND holder.transactionid = waiting.transactionid "
        "WHERE waiting.locktype = 'transactionid' AND NOT waiting.granted AND waiting.pid = $1";
    return std::make_shared<const sql::FunctionDef>(std::move(function));
  }();
  return kFunction;
}

}  // namespace

ExpressionPtr ExpressionBinder::bind_special_call(const ast::FunctionCall& function, const std::string& name, const Whole& whole) {
  if (function.arguments.size() != 1 || function.star || function.over) return nullptr;
  const ast::Expression& written = *function.arguments[0].value;
  if (name == "pg_collation_for") {
    const ExpressionPtr value = bind(written);
    bind_filter(function);
    check_plain_call(function, token(whole));
    if (is_unknown(*value)) return sql::make_expression(sql::kText, sql::Constant{}, start(whole));
    if (!is_collatable(value->type)) {
      throw SqlError(sqlstate::kDatatypeMismatch,
                     fmt::format("collations are not supported by type {}", sql::format_type(sql::Type{value->type.oid})));
    }
    const sql::Collation derived = derived_collation(*value);
    if (derived.strength == sql::Collation::Strength::kConflict) {
      throw SqlError(sqlstate::kIndeterminateCollation, "could not determine which collation to use for COLLATION FOR expression");
    }
    const std::string collation = value->type == sql::kName ? "C" : collation_name(derived.oid);
    return sql::make_expression(sql::kText, sql::Constant{parser::quote_identifier(collation)}, start(whole));
  }
  if (name == "pg_blocking_pids") {
    const ExpressionPtr bound = bind(written);
    bind_filter(function);
    const ExpressionPtr process = try_coerce(state_, bound, sql::kInt4, sql::CastContext::kImplicit);
    if (!process) {
      throw SqlError(sqlstate::kUndefinedFunction,
                     fmt::format("function pg_blocking_pids({}) does not exist", sql::format_type(sql::Type{bound->type.oid})))
          .hint("No function matches the given name and argument types. You might need to add explicit type casts.")
          .at(token(whole));
    }
    check_plain_call(function, token(whole));
    check_subquery_allowed(whole);
    const SqlFunctionCall call{blocking_processes(), {process}};
    PendingSubquery pending{.name = name, .type = call.function->result, .kind = LogicalApply::Kind::kScalar};
    pending.plan = bind_function_rows(state_, call, pending.correlations);
    return add_subquery(std::move(pending), start(whole));
  }
  const bool may_be_domain = std::holds_alternative<ast::TypeCast>(written.node) || std::holds_alternative<ast::ColumnRef>(written.node);
  if (name == "pg_typeof" && may_be_domain) {
    const ExpressionPtr value = bind(written);
    bind_filter(function);
    check_plain_call(function, token(whole));
    const sql::Oid domain = declared_domain(state_, level_, written, *value);
    return domain != 0 ? type_of_domain(domain, value, start(whole)) : with_offset(call(name, {value}, token(whole)), start(whole));
  }
  if (name == "pg_column_size" && std::holds_alternative<ast::ColumnRef>(written.node)) {
    const ExpressionPtr value = bind(written);
    bind_filter(function);
    check_plain_call(function, token(whole));
    if (!std::holds_alternative<sql::ColumnRef>(value->node)) return call(name, {value}, token(whole));
    return sql::make_expression(sql::kInt4, sql::FunctionCall{&sql::stored_column_size(), {value}}, start(whole));
  }
  return nullptr;
}

}  // namespace redquel::planner
