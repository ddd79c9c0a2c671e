#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "planner/bind/expression_binder.h"
#include "planner/bind/from_binder.h"
#include "planner/bind/modification.h"
#include "planner/bind/part_assignment.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/row_security.h"
#include "planner/bind/subquery_placement.h"
#include "planner/bind/with.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ColumnDef;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// The target of UPDATE or DELETE, its names in the level.
struct TargetScan {
  WriteTarget target;
  RelationPtr relation;
};

TargetScan scan_target(BindState& state, QueryLevel& level, const ast::TableRef& written, WriteOperation operation) {
  TargetScan result{bind_write_target(state, written, operation), nullptr};
  result.relation = target_relation(result.target, written.alias, result.target.row);
  level.range_table.push_back(result.relation);
  // Items of FROM and USING may not look at it sideways.
  level.names.push_back({.relation = result.relation, .lateral_only = true, .lateral_ok = false, .is_target = true});
  return result;
}

ExpressionPtr bind_where(BindState& state, QueryLevel& level, const ast::ExpressionPtr& where) {
  if (!where) return nullptr;
  Scoped clause(level.clause, Clause::kWhere);
  return ExpressionBinder(state, level).bind_boolean(*where, "WHERE");
}

/// Binds SET: every assignment's value in its column's type.
class AssignmentBinder {
 public:
  AssignmentBinder(BindState& state, QueryLevel& level, const WriteTarget& target)
      : state_(state), level_(level), target_(target) {}

  std::vector<Assignment> bind(const std::vector<ast::Assignment>& assignments) {
    Scoped clause(level_.clause, Clause::kUpdateSource);
    for (const ast::Assignment& assignment : assignments) {
      if (assignment.row) {
        assign_row(assignment);
      } else {
        assign(assignment.targets[0], *assignment.value);
      }
    }
    // The value assembled from parts enters the column's domain.
    for (Assignment& assigned : result_) {
      if (!parts_.contains(assigned.number)) continue;
      assigned.value = coerce_for_column(state_, assigned.value, *target_.table->find_column(assigned.number));
    }
    return std::move(result_);
  }

 private:
  void assign(const ast::AssignmentTarget& target, const ast::Expression& value) {
    if (std::holds_alternative<ast::DefaultValue>(value.node)) {
      const ColumnDef& column = find_column(target);
      if (!target.steps.empty()) {
        throw SqlError(sqlstate::kFeatureNotSupported, "cannot set an array element to DEFAULT").at(state_.position(target.offset));
      }
      add(column, bind_column_default(state_, *target_.table, column), true);
    } else {
      add(target, ExpressionBinder(state_, level_).bind(value));
    }
  }

  /// `value` null: DEFAULT.
  void assign(const ast::AssignmentTarget& target, const ExpressionPtr& value) {
    if (value) return add(target, value);
    static const ast::Expression kDefault{.node = ast::DefaultValue{}};
    assign(target, kDefault);
  }

  const ColumnDef& find_column(const ast::AssignmentTarget& target) const {
    const ColumnDef& column = find_target_column(state_, target_, target);
    if (target_.requirement != nullptr) target_.requirement->updated.insert(target_.attribute_of(target.column));
    return column;
  }

  void assign_row(const ast::Assignment& assignment) {
    const std::size_t count = assignment.targets.size();
    const std::string mismatch = "number of columns does not match number of values";
    const auto offset = state_.position(assignment.value->start);
    if (const auto* row = std::get_if<ast::Row>(&assignment.value->node)) {
      const std::vector<ExpressionPtr> items = ExpressionBinder(state_, level_).row_items(row->items, true);
      if (items.size() != count) throw SqlError(sqlstate::kSyntaxError, mismatch).at(offset);
      for (std::size_t i = 0; i < count; ++i) assign(assignment.targets[i], items[i]);
      return;
    }
    const auto* link = std::get_if<ast::SubLink>(&assignment.value->node);
    if (link == nullptr || link->kind != ast::SubLinkKind::kScalar) {
      throw SqlError(sqlstate::kFeatureNotSupported, "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
          .at(offset);
    }
    const std::vector<ExpressionPtr> values =
        ExpressionBinder(state_, level_).bind_row_subquery(*link, count, mismatch, mismatch, offset);
    for (std::size_t i = 0; i < count; ++i)
      add(assignment.targets[i], values[i]);
  }

  void add(const ast::AssignmentTarget& target, const ExpressionPtr& value) {
    const ColumnDef& column = find_column(target);
    if (target.steps.empty()) return add(column, value, false);
    // Parts of one column are assigned one after the other.
    const auto given = std::ranges::find(result_, column.number, &Assignment::number);
    const bool again = given != result_.end() && parts_.contains(column.number);
    const ExpressionPtr current = again ? given->value : reference(target_.row[target_.table->position(column.number)]);
    ExpressionBinder binder(state_, level_);
    const ExpressionPtr whole =
        PartAssignment(state_, binder, column.name, state_.position(target.offset)).assign(current, target.steps, value);
    if (again) {
      given->value = whole;
    } else {
      push(column, whole, false);
      parts_.insert(column.number);
    }
  }

  void add(const ColumnDef& column, const ExpressionPtr& value, bool is_default) {
    push(column, coerce_for_column(state_, value, column), is_default);
  }

  void push(const ColumnDef& column, const ExpressionPtr& converted, bool is_default) {
    if (assigned_.contains(column.number)) {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("multiple assignments to same column \"{}\"", column.name));
    }
    if (column.identity == ColumnDef::Identity::kAlways && !is_default) {
      throw SqlError(sqlstate::kGeneratedAlways, fmt::format("column \"{}\" can only be updated to DEFAULT", column.name))
          .detail(fmt::format("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name));
    }
    if (!column.generated_sql.empty()) {
      if (is_default) return;  // computed anyway
      throw SqlError(sqlstate::kGeneratedAlways, fmt::format("column \"{}\" can only be updated to DEFAULT", column.name))
          .detail(fmt::format("Column \"{}\" is a generated column.", column.name));
    }
    assigned_.insert(column.number);
    result_.push_back({column.number, converted});
  }

  BindState& state_;
  QueryLevel& level_;
  const WriteTarget& target_;
  std::set<std::int16_t> parts_;  // columns of which only parts are assigned
  std::set<std::int16_t> assigned_;
  std::vector<Assignment> result_;
};

/// Policies of the target: which rows are updated, and what may become of them.
void restrict_update(BindState& state, const WriteTarget& target, const QueryLevel& returning_level, const std::vector<ExpressionPtr>& returned,
                     LogicalUpdate& update) {
  std::vector<LogicalColumn> rows = target.row;
  rows.insert(rows.end(), update.new_row.begin(), update.new_row.end());
  std::vector<ExpressionPtr> values = returned;
  for (const Assignment& assignment : update.assignments) values.push_back(assignment.value);
  const bool reads = reads_columns(update.source, rows, target.plan) || reads_columns(values, returning_level, rows);
  update.source = reads ? with_visible_target(state, target, update.source, {PolicyCommand::kUpdate, PolicyCommand::kSelect})
                        : with_visible_target(state, target, update.source, {PolicyCommand::kUpdate});
  PolicyCheckBinder checks(state, target, update.new_row);
  checks.add(PolicyCommand::kUpdate, PolicyCheck::Row::kNew, false);
  if (reads) checks.add(PolicyCommand::kSelect, PolicyCheck::Row::kNew, true);
  if (checks.needs_values()) {
    std::vector<ExpressionPtr*> assigned;
    for (Assignment& assignment : update.assignments) assigned.push_back(&assignment.value);
    make_columns(state, update.source, assigned);
  }
  update.policy_checks =
      checks.place(update.source, computed_row(*target.table, update.new_row, target.row, update.assignments, update.generated));
}

}  // namespace

std::vector<Assignment> bind_assignments(BindState& state, QueryLevel& level, const WriteTarget& target,
                                         const std::vector<ast::Assignment>& assignments) {
  return AssignmentBinder(state, level, target).bind(assignments);
}

LogicalPtr bind_update(BindState& state, const ast::Update& update, WithItem* outer) {
  const WithScope with(state, nullptr, outer, update.with);
  QueryLevel level{.with = with.innermost()};
  const auto [target, relation] = scan_target(state, level, update.relation, WriteOperation::kUpdate);
  LogicalUpdate result{.table = target.table, .source = FromBinder(state, level).bind_beside(target.plan, update.from)};
  const ExpressionPtr where = bind_where(state, level, update.where);
  result.new_row = make_row_columns(state, *target.table);

  // RETURNING sees the new row where SET sees the old one.
  QueryLevel returning_level{.with = with.innermost(), .range_table = level.range_table};
  const RelationPtr new_relation = target_relation(target, update.relation.alias, result.new_row);
  for (const NamespaceItem& item : level.names) {
    NamespaceItem copy = item;
    if (item.relation == relation) copy.relation = new_relation;
    returning_level.names.push_back(std::move(copy));
  }
  result.source = place_condition(state, level, result.source, where);
  std::vector<LogicalColumn> input = result.source->columns;
  input.insert(input.end(), result.new_row.begin(), result.new_row.end());
  Returning returning = bind_returning(state, returning_level, update.returning, input);

  result.assignments = bind_assignments(state, level, target, update.assignments);
  std::vector<ExpressionPtr> values;
  for (const Assignment& assignment : result.assignments) values.push_back(assignment.value);
  result.source = place_subqueries(state, level, result.source, values);
  result.old_row = target.row;
  result.generated = bind_generated(state, *target.table, result.new_row);
  result.checks = bind_checks(state, *target.table, result.new_row);
  append_view_checks(target, result.new_row, result.checks);
  if (is_restricted(state, target)) restrict_update(state, target, returning_level, returning.values, result);
  return with.place(with_returning(state, returning_level, std::move(result), std::move(returning), input));
}

LogicalPtr bind_delete(BindState& state, const ast::Delete& removal, WithItem* outer) {
  const WithScope with(state, nullptr, outer, removal.with);
  QueryLevel level{.with = with.innermost()};
  const auto [target, relation] = scan_target(state, level, removal.relation, WriteOperation::kDelete);
  LogicalDelete result{.table = target.table,
                       .source = FromBinder(state, level).bind_beside(target.plan, removal.using_items)};
  const ExpressionPtr where = bind_where(state, level, removal.where);
  result.source = place_condition(state, level, result.source, where);
  result.old_row = target.row;
  const std::vector<LogicalColumn> input = result.source->columns;
  Returning returning = bind_returning(state, level, removal.returning, input);
  if (is_restricted(state, target)) {
    const bool reads = reads_columns(result.source, target.row, target.plan) || reads_columns(returning.values, level, target.row);
    result.source = reads ? with_visible_target(state, target, result.source, {PolicyCommand::kDelete, PolicyCommand::kSelect})
                          : with_visible_target(state, target, result.source, {PolicyCommand::kDelete});
  }
  return with.place(with_returning(state, level, std::move(result), std::move(returning), input));
}

}  // namespace redquel::planner
