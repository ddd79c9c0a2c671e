#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/expression_binder.h"
#include "planner/bind/plan_nodes.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/functions/window_function.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::CastContext;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// 42P20 where a clause is computed before there are windows.
void check_window_allowed(const QueryLevel& level, std::optional<std::uint32_t> offset) {
  std::string place;
  switch (level.clause) {
    case Clause::kSelectList:
    case Clause::kOrderBy:
    case Clause::kDistinctOn:
      break;
    case Clause::kWindowPartition:
    case Clause::kWindowOrder:
      place = "window definitions";
      break;
    default:
      place = clause_place(level.clause);
      break;
  }
  if (!place.empty()) throw SqlError(sqlstate::kWindowingError, fmt::format("window functions are not allowed in {}", place)).at(offset);
}

/// The window that OVER means: one of the WINDOW clause, or one of its own.
std::size_t find_window(QueryLevel& level, const ast::WindowDefinition& over, std::optional<std::uint32_t> offset) {
  if (over.name.empty()) {
    level.windows.push_back({.written = &over});
    return level.windows.size() - 1;
  }
  for (std::size_t i = 0; i < level.windows.size(); ++i) {
    if (level.windows[i].written->name == over.name) return i;
  }
  throw SqlError(sqlstate::kUndefinedObject, fmt::format("window \"{}\" does not exist", over.name)).at(offset);
}

SqlError not_for_windows(std::string_view what, std::string_view functions, std::optional<std::uint32_t> offset) {
  return SqlError(sqlstate::kFeatureNotSupported, fmt::format("{} is not implemented for {}", what, functions)).at(offset);
}

void check_window_aggregate(const ast::FunctionCall& call, std::optional<std::uint32_t> offset) {
  if (call.distinct) throw not_for_windows("DISTINCT", "window functions", offset);
  check_star(call, offset);
  if (!call.order_by.empty()) throw not_for_windows("aggregate ORDER BY", "window functions", offset);
}

}  // namespace

void check_window_function_call(const ast::FunctionCall& call, std::optional<std::uint32_t> offset) {
  if (call.within_group) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("window function {} cannot have WITHIN GROUP", fmt::join(call.name, "."))).at(offset);
  }
  if (call.distinct) throw not_for_windows("DISTINCT", "window functions", offset);
  if (!call.order_by.empty()) throw not_for_windows("aggregate ORDER BY", "window functions", offset);
  if (call.filter) throw not_for_windows("FILTER", "non-aggregate window functions", offset);
}

ExpressionPtr ExpressionBinder::bind_window_call(const ast::FunctionCall& function, const std::string& name, const Whole& whole) {
  const auto offset = token(whole);
  const auto refuse = [&](std::string_view sqlstate, std::string message) { return SqlError(sqlstate, std::move(message)).at(offset); };
  WindowCall call;
  Operands arguments;
  {
    Scoped inside(level_.inside_window, true);
    CallArguments bound = bind_call_arguments(function, name, offset);
    arguments = std::move(bound.values);
    call.filter = std::move(bound.filter);
  }
  std::vector<sql::Type> types, wanted;
  for (const ExpressionPtr& argument : arguments) types.push_back(argument->type);
  sql::Type result;
  const bool is_aggregate = !sql::find_aggregates(name).empty() && (sql::find_window_functions(name).empty() || function.star);
  if (function.within_group && is_hypothetical_set(name)) {
    throw refuse(sqlstate::kFeatureNotSupported, fmt::format("OVER is not supported for ordered-set aggregate {}", name));
  }
  if (is_aggregate) {
    const sql::ResolvedAggregate resolved = sql::resolve_aggregate(name, types, offset);
    call.aggregate = resolved.function;
    wanted = resolved.arguments;
    result = resolved.result;
  } else if (!sql::find_window_functions(name).empty()) {
    const sql::ResolvedWindowFunction resolved = sql::resolve_window_function(name, types, offset);
    check_window_function_call(function, offset);
    call.function = resolved.function;
    wanted = resolved.arguments;
    result = resolved.result;
  } else {
    if (sql::find_table_functions(name).empty()) {
      sql::resolve_function(name, types, offset);
    } else {
      sql::resolve_table_function(name, types, offset);
    }
    check_plain_call(function, offset);
  }
  if (is_aggregate) check_within_group(function, name, offset);
  if (is_aggregate && function.within_group) {
    throw refuse(sqlstate::kFeatureNotSupported, fmt::format("OVER is not supported for ordered-set aggregate {}", name));
  }
  if (is_aggregate) check_window_aggregate(function, offset);
  if (level_.inside_aggregate) throw refuse(sqlstate::kGroupingError, "aggregate function calls cannot contain window function calls");
  check_window_allowed(level_, offset);
  if (level_.inside_window) throw refuse(sqlstate::kWindowingError, "window function calls cannot be nested");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    call.arguments.push_back(coerce(state_, arguments[i], wanted[i], CastContext::kImplicit));
  }
  // Values of a char(n) column keep its length until they leave the window.
  sql::Type type = result;
  if (result.oid == sql::oid::kBpchar && !call.arguments.empty()) type = call.arguments[0]->type;
  PendingWindowCall pending = {.column = state_.new_column(), .name = name, .type = type, .call = std::move(call)};
  pending.window = find_window(level_, *function.over, state_.position(function.over->offset));
  level_.window_calls.push_back(std::move(pending));
  const PendingWindowCall& placed = level_.window_calls.back();
  const ExpressionPtr value = sql::make_expression(type, sql::ColumnRef{placed.column, name}, start(whole));
  return in_common_type(state_, value, result);
}

}  // namespace redquel::planner
