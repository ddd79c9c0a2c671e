#include "planner/bind/expression_binder.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_binder.h"
#include "planner/bind/row_shape.h"
#include "sql/error.h"
#include "sql/functions/row_functions.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// The limit of subqueries in one query: each becomes a level of its plan.
constexpr std::size_t kSubqueries = 1'000;

}  // namespace

void ExpressionBinder::check_subquery_allowed(const Whole& whole) const {
  if (level_.clause == Clause::kCheck)
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot use subquery in check constraint").at(token(whole));
  if (level_.clause == Clause::kDefault)
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot use subquery in DEFAULT expression").at(token(whole));
  if (level_.clause == Clause::kGenerated)
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot use subquery in column generation expression").at(token(whole));
  if (level_.clause == Clause::kIndexExpression)
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot use subquery in index expression").at(token(whole));
  if (level_.clause == Clause::kTriggerWhen)
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot use subquery in trigger WHEN condition").at(token(whole));
  if (level_.clause == Clause::kIndexPredicate)
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot use subquery in index predicate").at(token(whole));
}

ExpressionPtr ExpressionBinder::add_subquery(PendingSubquery pending, std::optional<std::uint32_t> offset) {
  if (level_.subqueries.size() >= kSubqueries) throw SqlError(sqlstate::kProgramLimitExceeded, "too many subqueries").at(offset);
  pending.column = state_.new_column();
  const ExpressionPtr value = sql::make_expression(pending.type, sql::ColumnRef{pending.column, pending.name}, offset);
  level_.subqueries.push_back(std::move(pending));
  return value;
}

ExpressionPtr ExpressionBinder::node(const ast::SubLink& link, const Whole& whole) {
  check_subquery_allowed(whole);
  PendingSubquery pending;
  {
    CorrelationScope scope(level_, pending.correlations);
    pending.plan = bind_query(state_, &level_, level_.with, *link.query).plan;
  }
  const std::vector<LogicalColumn>& columns = pending.plan->columns;
  switch (link.kind) {
    case ast::SubLinkKind::kArray:
      return array_subquery(std::move(pending), whole);
    case ast::SubLinkKind::kExists:
      pending.kind = LogicalApply::Kind::kExists;
      pending.name = "exists";
      pending.type = sql::kBool;
      return add_subquery(std::move(pending), start(whole));
    case ast::SubLinkKind::kScalar:
      if (columns.size() != 1) throw SqlError(sqlstate::kSyntaxError, "subquery must return only one column").at(token(whole));
      state_.subquery_names[&link] = columns[0].name;
      pending.kind = LogicalApply::Kind::kScalar;
      pending.name = columns[0].name;
      pending.type = columns[0].type;
      return add_subquery(std::move(pending), start(whole));
    default:
      break;
  }
  Operands test;
  if (const auto* row = std::get_if<ast::Row>(&link.test->node)) {
    test = row_items(row->items);
  } else {
    test.push_back(bind(*link.test));
  }
  if (columns.size() < test.size()) throw SqlError(sqlstate::kSyntaxError, "subquery has too few columns").at(token(whole));
  if (columns.size() > test.size()) throw SqlError(sqlstate::kSyntaxError, "subquery has too many columns").at(token(whole));
  Operands values;
  for (const LogicalColumn& column : columns) values.push_back(reference(column));
  const std::string name = link.operator_name.empty() ? "=" : function_name(state_, link.operator_name, token(whole));
  pending.kind = LogicalApply::Kind::kIn;
  pending.name = "any";
  pending.type = sql::kBool;
  pending.all = link.kind == ast::SubLinkKind::kAll;
  pending.comparison = compare_rows(name, test, values, token(whole));
  return add_subquery(std::move(pending), start(whole));
}

/// Returns the fields of a row whose values must come from one run: the row as one value, and its fields.
ExpressionBinder::Operands ExpressionBinder::fields_of_row(PendingSubquery pending, const LogicalPtr& plan, std::optional<std::uint32_t> offset) {
  std::vector<std::string> names;
  Operands columns, fields;
  for (const LogicalColumn& column : plan->columns) {
    names.push_back(column.name);
    columns.push_back(reference(column));
  }
  pending.name = "row";
  pending.type = sql::Type{sql::oid::kRecord};
  pending.plan = make_project(state_, plan, {{named_row(pending.type, names, std::move(columns), false, offset), pending.name}});
  const ExpressionPtr row = add_subquery(std::move(pending), offset);
  for (std::size_t i = 0; i < plan->columns.size(); ++i) {
    const ExpressionPtr place = sql::make_constant(sql::kInt4, static_cast<std::int32_t>(i));
    fields.push_back(sql::make_expression(plan->columns[i].type, sql::FunctionCall{&sql::row_field(), {row, place}}, offset));
  }
  return fields;
}

ExpressionBinder::Operands ExpressionBinder::bind_row_subquery(const ast::SubLink& link, std::size_t count,
                                                               const std::string& too_many, const std::string& too_few,
                                                               std::optional<std::uint32_t> offset) {
  // Each value is a scalar subquery of its own.
  Operands values;
  for (std::size_t i = 0; i < count; ++i) {
    PendingSubquery pending{.kind = LogicalApply::Kind::kScalar};
    LogicalPtr plan;
    {
      CorrelationScope scope(level_, pending.correlations);
      plan = bind_query(state_, &level_, level_.with, *link.query).plan;
    }
    if (plan->columns.size() > count) throw SqlError(sqlstate::kSyntaxError, too_many).at(offset);
    if (plan->columns.size() < count) throw SqlError(sqlstate::kSyntaxError, too_few).at(offset);
    if (count > 1 && has_volatile(*plan)) return fields_of_row(std::move(pending), plan, offset);
    const LogicalColumn& column = plan->columns[i];
    pending.name = column.name;
    pending.type = column.type;
    pending.plan = make_project(state_, plan, {{reference(column), column.name}});
    values.push_back(add_subquery(std::move(pending), offset));
  }
  return values;
}

}  // namespace redquel::planner
