#include "planner/bind/modification.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/domain.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/subquery_placement.h"
#include "planner/bind/target_list.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/functions/identity_value.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

std::vector<LogicalColumn> make_row_columns(BindState& state, const sql::TableDef& table) {
  std::vector<LogicalColumn> columns;
  for (const sql::ColumnDef& column : table.columns) {
    columns.push_back({.id = state.new_column(),
                       .name = column.name,
                       .type = column.type,
                       .nullable = !column.not_null,
                       .table = table.oid,
                       .attribute = column.number});
  }
  return columns;
}

std::vector<BoundCheck> bind_checks(BindState& state, const sql::TableDef& table,
                                    const std::vector<LogicalColumn>& row) {
  std::vector<ColumnId> ids;
  for (const LogicalColumn& column : row) ids.push_back(column.id);
  std::vector<BoundCheck> checks;
  for (const sql::CheckDef& check : table.checks) {
    const ast::ExpressionPtr written = parser::parse_expression(check.expression_sql);
    checks.push_back({check.name, bind_check(*written, table, ids, state.catalog, state.settings, /*stored=*/true)});
  }
  std::ranges::sort(checks, {}, &BoundCheck::name);  // PostgreSQL checks in that order
  return checks;
}

std::vector<Assignment> bind_generated(BindState& state, const sql::TableDef& table, const std::vector<LogicalColumn>& row) {
  std::vector<ColumnId> ids;
  for (const LogicalColumn& column : row) ids.push_back(column.id);
  std::vector<Assignment> assignments;
  for (const sql::ColumnDef& column : table.columns) {
    if (column.generated_sql.empty()) continue;
    const ast::ExpressionPtr written = parser::parse_expression(column.generated_sql);
    assignments.push_back(
        {column.number, bind_generation(*written, table, column, ids, state.catalog, state.settings, /*stored=*/true)});
  }
  return assignments;
}

bool has_sequence_default(const sql::ColumnDef& column) {
  const bool own_default = !column.default_sql.empty() && !column.default_sql.starts_with("nextval(");
  return column.sequence != 0 && (column.identity != sql::ColumnDef::Identity::kNone || !own_default);
}

void require_draws(BindState& state, const sql::ColumnDef& column) {
  if (column.identity != sql::ColumnDef::Identity::kNone) return;
  Requirement* const requirement = state.requirements.add(sql::AclKind::kSequence, column.sequence, sql::right::kUsage | sql::right::kUpdate);
  if (requirement != nullptr) requirement->checked_as = std::nullopt;
}

ExpressionPtr bind_column_default(BindState& state, const sql::TableDef& table, const sql::ColumnDef& column) {
  if (!column.generated_sql.empty()) return sql::make_constant(column.type, {});  // computed when the row is complete
  if (has_sequence_default(column)) {
    ExpressionPtr sequence = sql::make_constant(sql::Type{sql::oid::kRegclass}, static_cast<std::int32_t>(column.sequence));
    const bool is_identity = column.identity != sql::ColumnDef::Identity::kNone;
    const sql::ScalarFunction* nextval = is_identity ? &sql::identity_value() : sql::find_functions("nextval")[0];
    return coerce_for_column(state, sql::make_expression(sql::kInt8, sql::FunctionCall{nextval, {std::move(sequence)}}), column);
  }
  if (column.default_sql.empty() && column.domain != 0) {
    const std::string text = domain_default(state.catalog, column.domain);
    if (text.empty()) return into_domain(state.catalog, state.settings, sql::make_constant(column.type, {}), column.domain);
    return bind_default(*parser::parse_expression(text), table, column, state.catalog, state.settings, /*stored=*/true);
  }
  if (column.default_sql.empty()) return sql::make_constant(column.type, {});
  const ast::ExpressionPtr written = parser::parse_expression(column.default_sql);
  return bind_default(*written, table, column, state.catalog, state.settings, /*stored=*/true);
}

ExpressionPtr coerce_for_column(BindState& state, const ExpressionPtr& written, const sql::ColumnDef& column) {
  const bool is_parameter = column.domain != 0 && ParameterTypes::is_undecided(*written);
  const ExpressionPtr value = is_parameter ? state.parameters.decide(written, sql::Type{column.domain}) : written;
  if (ExpressionPtr converted = try_coerce(state, value, column.type, sql::CastContext::kAssignment)) {
    return into_domain(state.catalog, state.settings, *value, std::move(converted), column.domain);
  }
  throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("column \"{}\" is of type {} but expression is of type {}", column.name,
                                                          sql::format_type(sql::Type{column.domain != 0 ? column.domain : column.type.oid}),
                                                          sql::format_type(sql::Type{value->type.oid})))
      .hint("You will need to rewrite or cast the expression.")
      .at(value->offset)
      .routine("transformAssignedExpr");
}

Returning bind_returning(BindState& state, QueryLevel& level, const std::vector<ast::Target>& list,
                         const std::vector<LogicalColumn>& input) {
  Returning returning;
  Scoped clause(level.clause, Clause::kReturning);
  std::vector<Target> targets = bind_targets(state, level, list);
  if (targets.size() > kMostTargets) {
    throw SqlError(sqlstate::kTooManyColumns, fmt::format("number of columns ({}) exceeds limit ({})", targets.size(), kMostTargets));
  }
  for (Target& target : targets) {
    const ExpressionPtr value = resolve_unknown(state, target.value);
    LogicalColumn column{.id = state.new_column(), .name = target.name, .type = value->type};
    column.nullable = is_nullable(*value, input);
    if (const auto* passed = std::get_if<sql::ColumnRef>(&value->node)) {
      const auto source = std::ranges::find(input, passed->column, &LogicalColumn::id);
      if (source != input.end()) column.table = source->table, column.attribute = source->attribute;
    }
    returning.values.push_back(value);
    returning.columns.push_back(std::move(column));
  }
  return returning;
}

template <class Write>
LogicalPtr with_returning(BindState& state, const QueryLevel& level, Write write, Returning returning,
                          const std::vector<LogicalColumn>& input) {
  const bool has_subqueries = std::ranges::any_of(returning.values, [&](const ExpressionPtr& value) { return needs_subquery(level, *value); });
  if (!has_subqueries) {
    write.returning = std::move(returning.values);
    return make_logical(std::move(write), std::move(returning.columns));
  }
  for (const LogicalColumn& column : input) write.returning.push_back(reference(column));
  LogicalPtr plan = make_logical(std::move(write), input);
  plan = place_subqueries(state, level, std::move(plan), returning.values);
  return make_logical(LogicalProject{std::move(plan), std::move(returning.values)}, std::move(returning.columns));
}

template LogicalPtr with_returning(BindState&, const QueryLevel&, LogicalInsert, Returning, const std::vector<LogicalColumn>&);
template LogicalPtr with_returning(BindState&, const QueryLevel&, LogicalUpdate, Returning, const std::vector<LogicalColumn>&);
template LogicalPtr with_returning(BindState&, const QueryLevel&, LogicalDelete, Returning, const std::vector<LogicalColumn>&);

}  // namespace redquel::planner
