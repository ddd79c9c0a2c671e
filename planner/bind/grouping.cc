#include "planner/bind/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "planner/bind/name_uses.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/subquery_placement.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// With another expression in place of some parts: those for which `change` has one.
ExpressionPtr with_parts(const ExpressionPtr& expression, const std::function<ExpressionPtr(const ExpressionPtr&)>& change) {
  if (!expression) return expression;
  if (ExpressionPtr changed = change(expression)) return changed;
  return sql::map_children(expression, [&](const ExpressionPtr& child) { return with_parts(child, change); });
}

/// The call in a set that leaves out some keys: those are NULL in its direct arguments, which belong to the group, not to its rows.
AggregateCall call_in_set(const PendingAggregate& pending, const std::vector<ExpressionPtr>& left_out) {
  AggregateCall call = pending.call;
  if (pending.direct.empty() || left_out.empty()) return call;
  const auto without_keys = [&](const ExpressionPtr& part) -> ExpressionPtr {
    const bool is_left_out = std::ranges::any_of(left_out, [&](const ExpressionPtr& key) { return sql::equal(*key, *part); });
    return is_left_out ? sql::make_constant(part->type, {}) : nullptr;
  };
  // A column may also stand among the aggregated arguments: what is direct is known by being the same object.
  const auto as_direct = [&](const ExpressionPtr& part) -> ExpressionPtr {
    return std::ranges::find(pending.direct, part) != pending.direct.end() ? with_parts(part, without_keys) : nullptr;
  };
  for (ExpressionPtr& argument : call.arguments) argument = with_parts(argument, as_direct);
  call.filter = with_parts(call.filter, as_direct);
  return call;
}

}  // namespace

GroupedInput::GroupedInput(BindState& state, QueryLevel& level, LogicalPtr input, GroupingClause clause)
    : state_(state),
      level_(level),
      input_(std::move(input)),
      sets_(std::move(clause.sets)),
      key_targets_(std::move(clause.targets)),
      has_sets_(sets_.size() != 1 || sets_[0].size() != clause.keys.size()) {
  std::vector<ExpressionPtr> needed = clause.keys;
  for (const PendingAggregate& aggregate : level.aggregates) {
    needed.insert(needed.end(), aggregate.call.arguments.begin(), aggregate.call.arguments.end());
    for (const auto& order : aggregate.call.order_by) needed.push_back(order.expression);
    needed.push_back(aggregate.call.filter);
  }
  input_ = place_subqueries(state_, level_, std::move(input_), needed);
  for (const ExpressionPtr& key : clause.keys) add_key(key);
  for (PendingGrouping& grouping : level.groupings) check_grouping(grouping);
  for (const PendingAggregate& aggregate : level.aggregates) check_direct_arguments(aggregate);
}

void GroupedInput::check_grouping(const PendingGrouping& grouping) const {
  for (const ExpressionPtr& argument : grouping.arguments) {
    if (!key_position(*argument)) {
      throw SqlError(sqlstate::kGroupingError, "arguments to GROUPING must be grouping expressions of the associated query level")
          .at(argument->offset);
    }
  }
}

void GroupedInput::check_direct_arguments(const PendingAggregate& aggregate) {
  try {
    for (const ExpressionPtr& argument : aggregate.direct) rewrite(argument);
  } catch (SqlError& error) {
    if (error.sqlstate() != sqlstate::kGroupingError) throw;
    throw std::move(error).detail("Direct arguments of an ordered-set aggregate must use only grouped columns.");
  }
}

std::optional<std::size_t> GroupedInput::key_position(const sql::Expression& expression) const {
  const auto found = std::ranges::find_if(keys_, [&](const ExpressionPtr& key) { return sql::equal(*key, expression); });
  if (found == keys_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - keys_.begin());
}

ColumnId GroupedInput::add_key(const ExpressionPtr& key) {
  LogicalColumn column{.id = 0, .name = "?column?", .type = key->type};
  column.nullable = has_sets_ || is_nullable(*key, input_->columns);
  if (has_sets_) {
    // NULL in the sets that leave it out: not the column that it groups by.
    if (const auto* passed = std::get_if<sql::ColumnRef>(&key->node)) column.name = passed->name;
    column.id = state_.new_column();
  } else if (const auto* passed = std::get_if<sql::ColumnRef>(&key->node)) {
    if (const LogicalColumn* source = find_column(*input_, passed->column)) column = *source;
    column.id = passed->column;
  } else {
    column.id = state_.new_column();
  }
  keys_.push_back(key);
  key_columns_.push_back(column);
  return column.id;
}

ExpressionPtr GroupedInput::rewrite_target(std::size_t number, const ExpressionPtr& expression) {
  const auto key = std::ranges::find(key_targets_, number);
  if (key == key_targets_.end()) return rewrite(expression);
  return reference(key_columns_[static_cast<std::size_t>(key - key_targets_.begin())], expression->offset);
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
  if (level_.find_aggregate(id) != nullptr || level_.is_window_call(id) || level_.is_grouping(id) || exempt_.contains(id)) return expression;
  if (const PendingSubquery* pending = level_.find_subquery(id)) {
    const auto index = static_cast<std::size_t>(pending - level_.subqueries.data());
    if (rewritten_.insert(index).second) rewrite_subquery(level_.subqueries[index]);
    return expression;
  }
  if (!depends_on_keys(id)) throw_ungrouped(*expression, id);
  add_key(expression);
  if (!has_sets_) return expression;
  for (std::vector<std::size_t>& set : sets_) set.push_back(keys_.size() - 1);
  return reference(key_columns_.back(), expression->offset);
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

namespace {

/// Returns the columns of the primary key, if it is not deferrable, and the oid of its index.
std::pair<std::vector<std::int16_t>, sql::Oid> key_that_decides(const sql::TableDef& table) {
  if (!table.primary_key.empty()) return {table.primary_key, table.primary_key_index.oid};
  const sql::IndexDef* index = table.primary_key_as_index();
  if (index == nullptr || index->is_deferrable() || index->state != sql::IndexState::kReady) return {};
  std::vector<std::int16_t> columns;
  for (const sql::IndexDef::Part& part : index->parts) columns.push_back(part.column);
  return {columns, index->oid};
}

}  // namespace

bool GroupedInput::depends_on_keys(ColumnId id) const {
  // A key that some set leaves out decides nothing.
  const auto is_key = [&](const ExpressionPtr& value) {
    const auto position = key_position(*value);
    return position && std::ranges::all_of(sets_, [&](const auto& set) {
             return !has_sets_ || std::ranges::find(set, *position) != set.end();
           });
  };
  for (const RelationPtr& relation : level_.range_table) {
    if (!relation->table) continue;
    const auto [key, key_oid] = key_that_decides(*relation->table);
    if (key.empty()) continue;
    const bool owns = std::ranges::any_of(relation->columns, [&](const RelationColumn& column) {
      return std::get<sql::ColumnRef>(column.value->node).column == id;
    });
    if (!owns) continue;
    const bool by_key = std::ranges::all_of(key, [&](std::int16_t number) {
      return is_key(relation->columns[relation->table->position(number)].value);
    });
    if (by_key && state_.names != nullptr) state_.names->keys.insert(key_oid);
    return by_key;
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
  throw SqlError(sqlstate::kGroupingError,
                 inside_subquery_ ? fmt::format("subquery uses ungrouped column \"{}\" from outer query", name)
                                  : fmt::format("column \"{}\" must appear in the GROUP BY clause or be used in an aggregate function", name))
      .at(expression.offset);
}

/// Groups are made without waiting: what a key or an argument asks Redis for becomes a column of the input.
void GroupedInput::compute_waiting_parts() {
  std::vector<ExpressionPtr*> parts;
  const auto add = [&](ExpressionPtr& part) {
    if (part && waits(*part)) parts.push_back(&part);
  };
  std::ranges::for_each(keys_, add);
  for (PendingAggregate& pending : level_.aggregates) {
    for (ExpressionPtr& argument : pending.call.arguments) {
      if (std::ranges::find(pending.direct, argument) == pending.direct.end()) add(argument);
    }
    for (auto& order : pending.call.order_by) add(order.expression);
    add(pending.call.filter);
  }
  if (!parts.empty()) make_columns(state_, input_, parts);
}

LogicalPtr GroupedInput::place() {
  compute_waiting_parts();
  return has_sets_ ? place_sets() : place_groups();
}

LogicalPtr GroupedInput::place_groups() {
  LogicalAggregate aggregate{.input = input_, .group_by = keys_, .scalar = sets_[0].empty()};
  std::vector<LogicalColumn> columns = key_columns_;
  for (const PendingAggregate& pending : level_.aggregates) {
    aggregate.calls.push_back(pending.call);
    columns.push_back(call_column(pending));
  }
  LogicalPtr plan = make_logical(std::move(aggregate), std::move(columns));
  if (level_.groupings.empty()) return plan;
  LogicalProject project{plan, {}};
  std::vector<LogicalColumn> outputs = plan->columns;
  for (const LogicalColumn& column : plan->columns) project.expressions.push_back(reference(column));
  add_groupings(project, outputs, sets_[0]);
  return make_logical(std::move(project), std::move(outputs));
}

LogicalColumn GroupedInput::call_column(const PendingAggregate& pending) {
  const bool counts = pending.call.function->name == "count";
  return {.id = pending.column, .name = std::string(pending.call.function->name), .type = pending.type, .nullable = !counts};
}

void GroupedInput::add_groupings(LogicalProject& project, std::vector<LogicalColumn>& columns,
                                 const std::vector<std::size_t>& set) const {
  for (const PendingGrouping& grouping : level_.groupings) {
    std::int32_t left_out = 0;
    for (const ExpressionPtr& argument : grouping.arguments) {
      const bool is_there = !has_sets_ || std::ranges::find(set, *key_position(*argument)) != set.end();
      left_out = left_out << 1 | (is_there ? 0 : 1);
    }
    project.expressions.push_back(sql::make_constant(sql::kInt4, left_out));
    columns.push_back({.id = grouping.column, .name = "grouping", .type = sql::kInt4, .nullable = false});
  }
}

/// The rows, kept once, grouped by one set.
LogicalPtr GroupedInput::place_set(std::uint32_t number, const std::vector<std::size_t>& set) {
  LogicalSharedScan scan{number, "groups", {}};
  std::vector<LogicalColumn> columns = input_->columns;
  std::map<ColumnId, ExpressionPtr> copies;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnId original = columns[i].id;
    columns[i].id = state_.new_column();
    copies[original] = reference(columns[i]);
    scan.positions.push_back(i);
  }
  const auto copied = [&](const ExpressionPtr& expression) {
    if (!expression) return expression;
    return sql::map_columns(expression, [&](const sql::Expression&, const sql::ColumnRef& column) { return copies.at(column.column); });
  };
  LogicalAggregate aggregate{.input = make_logical(std::move(scan), columns), .scalar = set.empty()};
  std::vector<LogicalColumn> grouped, outputs = key_columns_;
  LogicalProject project;
  std::vector<ExpressionPtr> left_out;
  for (std::size_t key = 0; key < keys_.size(); ++key) {
    project.expressions.push_back(sql::make_constant(keys_[key]->type, {}));
    if (std::ranges::find(set, key) == set.end()) left_out.push_back(keys_[key]);
  }
  for (const std::size_t key : set) {
    aggregate.group_by.push_back(copied(keys_[key]));
    grouped.push_back(key_columns_[key]);
    grouped.back().id = state_.new_column();
    project.expressions[key] = reference(grouped.back());
  }
  for (const PendingAggregate& pending : level_.aggregates) {
    AggregateCall call = call_in_set(pending, left_out);
    for (ExpressionPtr& argument : call.arguments) argument = copied(argument);
    for (auto& order : call.order_by) order.expression = copied(order.expression);
    call.filter = copied(call.filter);
    aggregate.calls.push_back(std::move(call));
    outputs.push_back(call_column(pending));
    grouped.push_back(outputs.back());
    grouped.back().id = state_.new_column();
    project.expressions.push_back(reference(grouped.back()));
  }
  project.input = make_logical(std::move(aggregate), std::move(grouped));
  add_groupings(project, outputs, set);
  return make_logical(std::move(project), std::move(outputs));
}

LogicalPtr GroupedInput::place_sets() {
  const std::uint32_t number = state_.new_column();
  // Further sets get columns of their own; the union of all has the first one's.
  LogicalPtr all = place_set(number, sets_[0]);
  const std::vector<LogicalColumn> columns = all->columns;
  for (std::size_t i = 1; i < sets_.size(); ++i) {
    LogicalPtr next = place_set(number, sets_[i]);
    std::vector<LogicalColumn> fresh = next->columns;
    for (LogicalColumn& column : fresh) column.id = state_.new_column();
    next = make_logical(next->node, std::move(fresh));
    all = make_logical(LogicalSetOperation{LogicalSetOperation::Kind::kUnion, true, std::move(all), std::move(next)}, columns);
  }
  // Joins below may be reordered, with their columns; the scans count on this order.
  LogicalProject rows{input_, {}};
  for (const LogicalColumn& column : input_->columns) rows.expressions.push_back(reference(column));
  const LogicalPtr source = make_logical(std::move(rows), input_->columns);
  return make_logical(LogicalShare{std::move(all), source, number, "groups"}, columns);
}

}  // namespace redquel::planner
