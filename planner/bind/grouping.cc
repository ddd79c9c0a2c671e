#include "planner/bind/grouping.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/plan_nodes.h"
#include "planner/bind/subquery_placement.h"
#include "planner/rules/rule.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/stack_depth.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

std::string_view grouping_name(ast::GroupingSetKind kind) {
  switch (kind) {
    case ast::GroupingSetKind::kRollup:
      return "ROLLUP";
    case ast::GroupingSetKind::kCube:
      return "CUBE";
    default:
      return "GROUPING SETS";
  }
}

}  // namespace

std::vector<ExpressionPtr> bind_group_by(BindState& state, TargetList& targets, const ast::Select& select) {
  std::vector<ExpressionPtr> keys;
  const auto add = [&](const ast::Expression& item) {
    const std::size_t target = targets.find_or_add(item, Clause::kGroupBy);
    const ExpressionPtr& key = targets.items()[target].value;
    sql::equality_operator(key->type, key->offset);
    if (std::ranges::none_of(keys, [&](const ExpressionPtr& known) { return sql::equal(*known, *key); }))
      keys.push_back(key);
  };
  for (const ast::GroupElement& element : select.group_by) {
    if (const auto* set = std::get_if<std::unique_ptr<const ast::GroupingSet>>(&element)) {
      if ((*set)->kind == ast::GroupingSetKind::kEmpty) continue;
      throw sql::not_supported(grouping_name((*set)->kind), state.position((*set)->offset));
    }
    const ast::Expression& item = *std::get<ast::ExpressionPtr>(element);
    if (const auto* row = std::get_if<ast::Row>(&item.node); row && !row->explicit_row) {
      for (const ast::ExpressionPtr& part : row->items) add(*part);  // GROUP BY (a, b) is GROUP BY a, b
    } else {
      add(item);
    }
  }
  return keys;
}

GroupedInput::GroupedInput(BindState& state, QueryLevel& level, LogicalPtr input, std::vector<ExpressionPtr> keys)
    : state_(state), level_(level), input_(std::move(input)), scalar_(keys.empty()) {
  std::vector<ExpressionPtr> needed = keys;
  for (const PendingAggregate& aggregate : level.aggregates) {
    needed.insert(needed.end(), aggregate.call.arguments.begin(), aggregate.call.arguments.end());
    for (const auto& order : aggregate.call.order_by) needed.push_back(order.expression);
    needed.push_back(aggregate.call.filter);
  }
  input_ = place_subqueries(state_, level_, std::move(input_), needed);
  for (const ExpressionPtr& key : keys) add_key(key);
}

ColumnId GroupedInput::add_key(const ExpressionPtr& key) {
  LogicalColumn column{.id = 0, .name = "?column?", .type = key->type};
  column.nullable = is_nullable(*key, input_->columns);
  if (const auto* passed = std::get_if<sql::ColumnRef>(&key->node)) {
    if (const LogicalColumn* source = find_column(*input_, passed->column)) column = *source;
    column.id = passed->column;
  } else {
    column.id = state_.new_column();
  }
  keys_.push_back(key);
  key_columns_.push_back(column);
  return column.id;
}

ExpressionPtr GroupedInput::rewrite(const ExpressionPtr& expression) {
  sql::check_stack_depth();
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    // Inside a subquery only plain columns are recognised, as in PostgreSQL.
    if (inside_subquery_ && !std::holds_alternative<sql::ColumnRef>(keys_[i]->node)) continue;
    if (sql::equal(*keys_[i], *expression)) return reference(key_columns_[i], expression->offset);
  }
  if (const auto* column = std::get_if<sql::ColumnRef>(&expression->node))
    return rewrite_column(expression, column->column);
  return sql::map_children(expression, [this](const ExpressionPtr& child) { return rewrite(child); });
}

ExpressionPtr GroupedInput::rewrite_column(const ExpressionPtr& expression, ColumnId id) {
  if (level_.find_aggregate(id) != nullptr || exempt_.contains(id)) return expression;
  const auto pending = std::ranges::find(level_.subqueries, id, &PendingSubquery::column);
  if (pending != level_.subqueries.end()) {
    if (rewritten_.insert(id).second) rewrite_subquery(*pending);
    return expression;
  }
  if (!depends_on_keys(id)) throw_ungrouped(*expression, id);
  add_key(expression);
  return expression;
}

void GroupedInput::rewrite_subquery(PendingSubquery& pending) {
  {
    Scoped inside(inside_subquery_, true);
    for (Correlation& correlation : pending.correlations) correlation.value = rewrite(correlation.value);
  }
  if (!pending.comparison) return;
  std::set<ColumnId> own = ids_of(*pending.plan);
  own.insert(exempt_.begin(), exempt_.end());
  Scoped exempt(exempt_, std::move(own));
  pending.comparison = rewrite(pending.comparison);
}

bool GroupedInput::depends_on_keys(ColumnId id) const {
  const auto is_key = [&](const ExpressionPtr& value) {
    return std::ranges::any_of(keys_, [&](const ExpressionPtr& key) { return sql::equal(*key, *value); });
  };
  for (const RelationPtr& relation : level_.range_table) {
    if (!relation->table || relation->table->has_hidden_key()) continue;
    const bool owns = std::ranges::any_of(relation->columns, [&](const RelationColumn& column) {
      return std::get<sql::ColumnRef>(column.value->node).column == id;
    });
    if (!owns) continue;
    return std::ranges::all_of(relation->table->primary_key, [&](std::int16_t number) {
      return is_key(relation->columns[relation->table->position(number)].value);
    });
  }
  return false;
}

void GroupedInput::throw_ungrouped(const sql::Expression& expression, ColumnId id) const {
  std::string name = std::get<sql::ColumnRef>(expression.node).name;
  for (const RelationPtr& relation : level_.range_table) {
    if (relation->is_join) continue;
    for (const RelationColumn& column : relation->columns) {
      const auto* own = std::get_if<sql::ColumnRef>(&column.value->node);
      if (own != nullptr && own->column == id) name = relation->name + "." + column.name;
    }
  }
  throw SqlError(
      "42803",
      inside_subquery_
          ? fmt::format("subquery uses ungrouped column \"{}\" from outer query", name)
          : fmt::format("column \"{}\" must appear in the GROUP BY clause or be used in an aggregate function", name))
      .at(expression.offset);
}

LogicalPtr GroupedInput::place() {
  LogicalAggregate aggregate{.input = input_, .group_by = keys_, .scalar = scalar_};
  std::vector<LogicalColumn> columns = key_columns_;
  for (const PendingAggregate& pending : level_.aggregates) {
    aggregate.calls.push_back(pending.call);
    const bool counts = pending.call.function->name == "count";
    columns.push_back({.id = pending.column,
                       .name = std::string(pending.call.function->name),
                       .type = pending.type,
                       .nullable = !counts});
  }
  return make_logical(std::move(aggregate), std::move(columns));
}

}  // namespace redquel::planner
