#include <fmt/format.h>

#include "parser/deparse.h"
#include "planner/bind/collation.h"
#include "planner/bind/ordering.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_binder.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

LogicalSetOperation::Kind operation_kind(ast::SetOperator kind) {
  switch (kind) {
    case ast::SetOperator::kIntersect:
      return LogicalSetOperation::Kind::kIntersect;
    case ast::SetOperator::kExcept:
      return LogicalSetOperation::Kind::kExcept;
    default:
      return LogicalSetOperation::Kind::kUnion;
  }
}

/// One side's columns as expressions over its plan, untyped ones as they were written.
std::vector<ExpressionPtr> side_values(const BoundQuery& side) {
  std::vector<ExpressionPtr> values;
  for (std::size_t i = 0; i < side.plan->columns.size(); ++i) {
    const bool unknown = i < side.unknowns.size() && side.unknowns[i];
    values.push_back(unknown ? side.unknowns[i] : with_collation(reference(side.plan->columns[i], side.offsets[i]), side.collations[i]));
  }
  return values;
}

/// The side's plan, projected where a column must be converted.
LogicalPtr convert_side(BindState& state, const BoundQuery& side, const std::vector<ExpressionPtr>& values,
                        const std::vector<sql::Type>& types) {
  bool changed = false;
  std::vector<OutputValue> outputs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ExpressionPtr value = in_common_type(state, values[i], types[i]);
    changed = changed || value != values[i] || side.unknowns[i];
    outputs.push_back({value, side.plan->columns[i].name});
  }
  return changed ? make_project(state, side.plan, outputs) : side.plan;
}

std::uint32_t list_offset(const ast::Select& query) {
  const ast::Select* leaf = &query;
  while (leaf->left) leaf = leaf->left.get();
  if (!leaf->targets.empty()) return leaf->targets[0].value->start;
  if (!leaf->values.empty() && !leaf->values[0].empty()) return leaf->values[0][0]->start;
  return leaf->offset;
}

std::size_t count_leaves(const ast::Select& query) {
  return query.left ? count_leaves(*query.left) + count_leaves(*query.right) : 1;
}

/// One side as messages call it.
RelationPtr side_relation(std::size_t number, const Logical& plan) {
  auto relation = std::make_shared<Relation>(Relation{.name = fmt::format("*SELECT* {}", number), .aliased = true});
  for (const LogicalColumn& column : plan.columns) relation->columns.push_back({column.name, reference(column)});
  return relation;
}

/// ORDER BY and LIMIT of the whole: only the result's own columns are there to be named. `sides`: messages know them.
LogicalPtr place_set_tail(BindState& state, QueryLevel* outer, WithItem* with, const ast::Select& select,
                          LogicalPtr plan, std::vector<RelationPtr> sides) {
  QueryLevel level{.outer = outer, .with = with, .clause = Clause::kSelectList};
  level.range_table = std::move(sides);
  auto relation = std::make_shared<Relation>(Relation{.name = "*SELECT*", .aliased = true, .is_join = true});
  std::vector<Target> list;
  for (const LogicalColumn& column : plan->columns) {
    relation->columns.push_back({column.name, reference(column)});
    list.push_back({column.name, reference(column)});
  }
  level.names.push_back({.relation = relation, .by_name = false});
  level.range_table.push_back(relation);
  TargetList targets(state, level, std::move(list));
  QueryTail tail;
  bind_order_by(state, targets, tail, select);
  if (targets.items().size() > plan->columns.size()) {
    throw SqlError(sqlstate::kFeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause")
        .detail("Only result column names can be used, not expressions or functions.")
        .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
        .at(targets.items()[plan->columns.size()].value->offset);
  }
  bind_limit(state, level, tail, select);
  if (tail.order_by.empty() && !tail.limit && !tail.offset) return plan;
  return place_tail(state, level, std::move(plan), targets, tail);
}

}  // namespace

BoundQuery bind_set_operation(BindState& state, QueryLevel* outer, WithItem* with, const ast::Select& select) {
  const std::string_view name = parser::set_operator_name(select.set_operator);
  const BoundQuery left = bind_query(state, outer, with, *select.left, true);
  const BoundQuery right = bind_query(state, outer, with, *select.right, true);
  if (left.plan->columns.size() != right.plan->columns.size()) {
    throw SqlError(sqlstate::kSyntaxError, fmt::format("each {} query must have the same number of columns", name))
        .at(state.position(list_offset(*select.right)));
  }
  const std::vector<ExpressionPtr> left_values = side_values(left), right_values = side_values(right);
  std::vector<sql::Type> types;
  BoundQuery query;
  for (std::size_t i = 0; i < left_values.size(); ++i) {
    types.push_back(common_type({left_values[i], right_values[i]}, name));
    const auto offset = left.offsets[i] ? left.offsets[i] : right.offsets[i];
    if (!select.set_all || select.set_operator != ast::SetOperator::kUnion)
      sql::equality_operator(types.back(), offset);
    query.offsets.push_back(offset);
    const bool keeps_all = select.set_all && select.set_operator == ast::SetOperator::kUnion;
    query.collations.push_back(united_collation(*left_values[i], *right_values[i], keeps_all));
    query.unknowns.push_back(nullptr);
  }
  LogicalSetOperation operation{operation_kind(select.set_operator), select.set_all,
                                convert_side(state, left, left_values, types),
                                convert_side(state, right, right_values, types)};
  std::vector<LogicalColumn> columns;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const bool nullable = operation.left->columns[i].nullable || operation.right->columns[i].nullable;
    columns.push_back(
        {.id = state.new_column(), .name = left.plan->columns[i].name, .type = types[i], .nullable = nullable});
  }
  std::vector<RelationPtr> sides = {side_relation(1, *left.plan), side_relation(1 + count_leaves(*select.left), *right.plan)};
  query.plan = place_set_tail(state, outer, with, select, make_logical(std::move(operation), std::move(columns)), std::move(sides));
  return query;
}

}  // namespace redquel::planner
