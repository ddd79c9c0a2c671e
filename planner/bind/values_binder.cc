#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/expression_binder.h"
#include "planner/bind/ordering.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_binder.h"
#include "planner/bind/subquery_placement.h"
#include "planner/bind/target_list.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

using Row = std::vector<ExpressionPtr>;

LogicalPtr project_row(BindState& state, const QueryLevel& level, const Row& row,
                       const std::vector<std::string>& names) {
  std::vector<OutputValue> outputs;
  for (std::size_t i = 0; i < row.size(); ++i) outputs.push_back({row[i], names[i]});
  return make_project(state, place_subqueries(state, level, one_row(), row), outputs);
}

/// UNION ALL of the rows' projections, as a balanced tree.
LogicalPtr union_rows(BindState& state, const QueryLevel& level, std::span<const Row> rows,
                      const std::vector<std::string>& names) {
  if (rows.size() == 1) return project_row(state, level, rows[0], names);
  const std::size_t half = rows.size() / 2;
  LogicalSetOperation both{LogicalSetOperation::Kind::kUnion, true, union_rows(state, level, rows.first(half), names),
                           union_rows(state, level, rows.subspan(half), names)};
  std::vector<LogicalColumn> columns = both.left->columns;
  for (LogicalColumn& column : columns) {
    column.id = state.new_column();
    column.nullable = true;
  }
  return make_logical(std::move(both), std::move(columns));
}

}  // namespace

LogicalPtr place_rows(BindState& state, const QueryLevel& level, std::vector<Row> rows,
                      const std::vector<std::string>& names, const std::vector<sql::Type>& types) {
  const bool simple = std::ranges::none_of(rows, [&](const Row& row) {
    return std::ranges::any_of(row, [&](const ExpressionPtr& value) { return needs_subquery(level, *value); });
  });
  return simple ? make_values(state, std::move(rows), names, types) : union_rows(state, level, rows, names);
}

void check_row_length(const BindState& state, const ast::Expressions& row, std::size_t length, std::size_t first_length) {
  if (length == first_length) return;
  const auto offset = row.empty() ? std::nullopt : state.position(row[0]->start);
  throw SqlError(sqlstate::kSyntaxError, "VALUES lists must all be the same length").at(offset);
}

BoundQuery bind_values(BindState& state, QueryLevel* outer, WithItem* with, const ast::Select& select) {
  QueryLevel level{.outer = outer, .with = with, .clause = Clause::kValues};
  std::vector<Row> rows;
  for (const ast::Expressions& list : select.values) {
    rows.push_back(ExpressionBinder(state, level).row_items(list));
    check_row_length(state, list, rows.back().size(), rows[0].size());
  }
  check_target_count(rows[0].size());
  std::vector<sql::Type> types;
  std::vector<std::string> names;
  BoundQuery query;
  for (std::size_t column = 0; column < rows[0].size(); ++column) {
    Row values;
    for (const Row& row : rows) values.push_back(row[column]);
    types.push_back(common_type(values, "VALUES"));
    names.push_back(fmt::format("column{}", column + 1));
    for (Row& row : rows) row[column] = in_common_type(state, row[column], types.back());
    query.offsets.push_back(values[0]->offset);
    query.collations.emplace_back();
    query.unknowns.push_back(nullptr);
  }
  LogicalPtr plan = place_rows(state, level, std::move(rows), names, types);

  auto relation = std::make_shared<Relation>(Relation{.name = "*VALUES*"});
  std::vector<Target> list;
  for (const LogicalColumn& column : plan->columns) {
    relation->columns.push_back({column.name, reference(column)});
    list.push_back({column.name, reference(column)});
  }
  level.names.push_back({.relation = relation});
  level.range_table.push_back(relation);
  TargetList targets(state, level, std::move(list));
  QueryTail tail;
  bind_order_by(state, targets, tail, select);
  bind_limit(state, level, tail, select);
  const bool has_tail = !tail.order_by.empty() || tail.limit || tail.offset;
  query.plan = has_tail ? place_tail(state, level, std::move(plan), targets, tail) : std::move(plan);
  return query;
}

}  // namespace redquel::planner
