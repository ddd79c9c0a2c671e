#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "planner/bind/expression_binder.h"
#include "planner/bind/from_binder.h"
#include "planner/bind/modification.h"
#include "planner/bind/part_assignment.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/relation_lookup.h"
#include "planner/bind/subquery_placement.h"
#include "planner/bind/with.h"
#include "planner/rules/rule.h"
#include "sql/error.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ColumnDef;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// The target of UPDATE or DELETE as a scan, its names in the level.
struct TargetScan {
  std::shared_ptr<const sql::TableDef> table;
  LogicalPtr plan;
  std::shared_ptr<Relation> relation;
};

TargetScan scan_target(BindState& state, QueryLevel& level, const ast::TableRef& target) {
  TargetScan result{find_target_table(state, target.name), nullptr, nullptr};
  result.plan =
      scan_table(state, result.table, target.alias ? target.alias->name : result.table->name, /*hidden_key=*/true);
  result.relation = std::make_shared<Relation>(Relation{.name = result.table->name, .table = result.table});
  for (std::size_t i = 0; i < result.table->columns.size(); ++i) {
    const LogicalColumn& column = result.plan->columns[i];
    result.relation->columns.push_back({column.name, reference(column)});
  }
  apply_alias(*result.relation, target.alias);
  level.range_table.push_back(result.relation);
  // Items of FROM and USING may not look at it sideways.
  level.names.push_back({.relation = result.relation, .lateral_only = true, .lateral_ok = false});
  return result;
}

ExpressionPtr bind_where(BindState& state, QueryLevel& level, const ast::ExpressionPtr& where) {
  if (!where) return nullptr;
  Scoped clause(level.clause, Clause::kWhere);
  return ExpressionBinder(state, level).bind_boolean(*where, "WHERE");
}

/// Binds SET: every assignment's value in its column's type.
class SetBinder {
 public:
  /// `old_row`: the table's columns as the level sees them.
  SetBinder(BindState& state, QueryLevel& level, const sql::TableDef& table, const std::vector<LogicalColumn>& old_row)
      : state_(state), level_(level), table_(table), old_row_(old_row) {}

  std::vector<Assignment> bind(const std::vector<ast::Assignment>& assignments) {
    Scoped clause(level_.clause, Clause::kUpdateSource);
    for (const ast::Assignment& assignment : assignments) {
      if (assignment.row) {
        assign_row(assignment);
      } else {
        assign(assignment.targets[0], *assignment.value);
      }
    }
    return std::move(result_);
  }

 private:
  void assign(const ast::AssignmentTarget& target, const ast::Expression& value) {
    if (std::holds_alternative<ast::DefaultValue>(value.node)) {
      const ColumnDef& column = find_target_column(state_, table_, target);
      if (!target.steps.empty()) throw SqlError("0A000", "cannot set an array element to DEFAULT").at(state_.position(target.offset));
      if (has_sequence_default(column)) {
        throw sql::not_supported("SET … = DEFAULT for a sequence's column", state_.position(value.start));
      }
      add(column, bind_column_default(state_, table_, column), true);
    } else {
      add(target, ExpressionBinder(state_, level_).bind(value));
    }
  }

  void assign_row(const ast::Assignment& assignment) {
    const std::size_t count = assignment.targets.size();
    const std::string mismatch = "number of columns does not match number of values";
    const auto offset = state_.position(assignment.value->start);
    if (const auto* row = std::get_if<ast::Row>(&assignment.value->node)) {
      if (row->items.size() != count) throw SqlError("42601", mismatch).at(offset);
      for (std::size_t i = 0; i < count; ++i) assign(assignment.targets[i], *row->items[i]);
      return;
    }
    const auto* link = std::get_if<ast::SubLink>(&assignment.value->node);
    if (link == nullptr || link->kind != ast::SubLinkKind::kScalar) {
      throw SqlError("0A000", "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
          .at(offset);
    }
    const std::vector<ExpressionPtr> values =
        ExpressionBinder(state_, level_).bind_row_subquery(*link, count, mismatch, mismatch, offset);
    for (std::size_t i = 0; i < count; ++i)
      add(assignment.targets[i], values[i]);
  }

  void add(const ast::AssignmentTarget& target, const ExpressionPtr& value) {
    const ColumnDef& column = find_target_column(state_, table_, target);
    if (target.steps.empty()) return add(column, value, false);
    // Parts of one column are assigned one after the other.
    const auto given = std::ranges::find(result_, column.number, &Assignment::number);
    const bool again = given != result_.end() && parts_.contains(column.number);
    const ExpressionPtr current = again ? given->value : reference(old_row_[table_.position(column.number)]);
    ExpressionBinder binder(state_, level_);
    const ExpressionPtr whole =
        PartAssignment(state_, binder, column.name, state_.position(target.offset)).assign(current, target.steps, value);
    if (again) {
      given->value = whole;
    } else {
      add(column, whole, false);
      parts_.insert(column.number);
    }
  }

  void add(const ColumnDef& column, const ExpressionPtr& value, bool is_default) {
    const ExpressionPtr converted = coerce_for_column(state_, value, column);
    if (std::ranges::find(result_, column.number, &Assignment::number) != result_.end()) {
      throw SqlError("42601", fmt::format("multiple assignments to same column \"{}\"", column.name));
    }
    if (column.identity == ColumnDef::Identity::kAlways && !is_default) {
      throw SqlError("428C9", fmt::format("column \"{}\" can only be updated to DEFAULT", column.name))
          .detail(fmt::format("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name));
    }
    result_.push_back({column.number, converted});
  }

  BindState& state_;
  QueryLevel& level_;
  const sql::TableDef& table_;
  const std::vector<LogicalColumn>& old_row_;
  std::set<std::int16_t> parts_;  // columns of which only parts are assigned
  std::vector<Assignment> result_;
};

}  // namespace

LogicalPtr bind_update(BindState& state, const ast::Update& update) {
  const WithScope with(state, nullptr, nullptr, update.with);
  QueryLevel level{.with = with.innermost()};
  const TargetScan target = scan_target(state, level, update.relation);
  LogicalUpdate result{.table = target.table, .source = FromBinder(state, level).bind_beside(target.plan, update.from)};
  const ExpressionPtr where = bind_where(state, level, update.where);
  result.new_row = make_row_columns(state, *target.table);

  // RETURNING sees the new row where SET sees the old one.
  QueryLevel returning_level{.with = with.innermost(), .range_table = level.range_table};
  auto new_relation = std::make_shared<Relation>(*target.relation);
  for (std::size_t i = 0; i < result.new_row.size(); ++i) new_relation->columns[i].value = reference(result.new_row[i]);
  for (const NamespaceItem& item : level.names) {
    NamespaceItem copy = item;
    if (item.relation == target.relation) copy.relation = new_relation;
    returning_level.names.push_back(std::move(copy));
  }
  result.source = place_condition(state, level, result.source, where);
  std::vector<LogicalColumn> input = result.source->columns;
  input.insert(input.end(), result.new_row.begin(), result.new_row.end());
  Returning returning = bind_returning(state, returning_level, update.returning, input);

  result.assignments = SetBinder(state, level, *target.table, target.plan->columns).bind(update.assignments);
  std::vector<ExpressionPtr> values;
  for (const Assignment& assignment : result.assignments) values.push_back(assignment.value);
  result.source = place_subqueries(state, level, result.source, values);
  result.old_row = target.plan->columns;
  result.checks = bind_checks(state, *target.table, result.new_row);
  result.returning = std::move(returning.values);
  return make_logical(std::move(result), std::move(returning.columns));
}

LogicalPtr bind_delete(BindState& state, const ast::Delete& removal) {
  const WithScope with(state, nullptr, nullptr, removal.with);
  QueryLevel level{.with = with.innermost()};
  const TargetScan target = scan_target(state, level, removal.relation);
  LogicalDelete result{.table = target.table,
                       .source = FromBinder(state, level).bind_beside(target.plan, removal.using_items)};
  const ExpressionPtr where = bind_where(state, level, removal.where);
  result.source = place_condition(state, level, result.source, where);
  result.old_row = target.plan->columns;
  Returning returning = bind_returning(state, level, removal.returning, result.source->columns);
  result.returning = std::move(returning.values);
  return make_logical(std::move(result), std::move(returning.columns));
}

}  // namespace redquel::planner
