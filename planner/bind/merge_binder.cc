#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "planner/bind/expression_binder.h"
#include "planner/bind/from_binder.h"
#include "planner/bind/insert_targets.h"
#include "planner/bind/modification.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/relation_lookup.h"
#include "planner/bind/row_security.h"
#include "planner/bind/subquery_placement.h"
#include "planner/bind/with.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

void check_whens(const std::vector<ast::MergeWhen>& whens) {
  bool is_final[2] = {false, false};
  for (const ast::MergeWhen& when : whens) {
    if (is_final[when.matched]) {
      throw SqlError(sqlstate::kSyntaxError, "unreachable WHEN clause specified after unconditional WHEN clause");
    }
    is_final[when.matched] = !when.condition;
  }
}

class MergeBinder {
 public:
  MergeBinder(BindState& state, const ast::Merge& merge) : state_(state), merge_(merge) {}

  LogicalPtr bind() {
    if (merge_.with && merge_.with->recursive) throw SqlError(sqlstate::kSyntaxError, "WITH RECURSIVE is not supported for MERGE statement");
    const WithScope with(state_, nullptr, nullptr, merge_.with);
    level_.with = with.innermost();
    check_whens(merge_.whens);
    bind_target();
    LogicalMerge result{.table = target_.table, .old_row = target_.row};
    const bool inserts = std::ranges::any_of(merge_.whens, [](const ast::MergeWhen& when) { return !when.matched; });
    result.source = FromBinder(state_, level_)
                        .bind_merge(target_.plan, *merge_.source, *merge_.on, inserts ? JoinKind::kLeft : JoinKind::kInner);
    for (const ast::MergeWhen& when : merge_.whens) result.actions.push_back(bind_action(when));
    result.source = place_subqueries(state_, level_, result.source, needed_);
    result.new_row = make_row_columns(state_, *target_.table);
    result.generated = bind_generated(state_, *target_.table, result.new_row);
    result.checks = bind_checks(state_, *target_.table, result.new_row);
    if (is_restricted(state_, target_)) restrict(result);
    return with.place(make_logical(std::move(result), {}));
  }

 private:
  void bind_target() {
    const FoundTable found = find_table(state_, merge_.relation.name);
    std::string_view kind;
    if (found.table && found.table->materialized) kind = "materialized views";
    if (found.view) kind = state_.catalog.sequences.contains(found.view->oid) ? "sequences" : "views";
    if (!kind.empty()) {
      throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot execute MERGE on relation \"{}\"", merge_.relation.name.name))
          .detail(fmt::format("This operation is not supported for {}.", kind));
    }
    target_ = bind_write_target(state_, merge_.relation, WriteOperation::kUpdate);
    if (target_.requirement != nullptr) target_.requirement->rights = rights_of_actions();
    relation_ = target_relation(target_, merge_.relation.alias, target_.row);
    level_.range_table.push_back(relation_);
    // The source may not look at it sideways.
    level_.names.push_back({.relation = relation_, .lateral_only = true, .lateral_ok = false, .is_target = true});
  }

  sql::Rights rights_of_actions() const {
    sql::Rights rights = 0;
    for (const ast::MergeWhen& when : merge_.whens) {
      switch (when.action) {
        case ast::MergeAction::kDoNothing: break;
        case ast::MergeAction::kDelete: rights |= sql::right::kDelete; break;
        case ast::MergeAction::kUpdate: rights |= sql::right::kUpdate; break;
        case ast::MergeAction::kInsert: rights |= sql::right::kInsert; break;
      }
    }
    return rights;
  }

  MergeAction bind_action(const ast::MergeWhen& when) {
    // WHEN NOT MATCHED has no target row.
    const auto item = std::ranges::find(level_.names, relation_, &NamespaceItem::relation);
    item->by_name = item->by_column = when.matched;
    MergeAction action{.matched = when.matched};
    if (when.condition) {
      Scoped clause(level_.clause, Clause::kMergeWhen);
      action.condition = ExpressionBinder(state_, level_).bind_boolean(*when.condition, "WHEN");
      needed_.push_back(action.condition);
    }
    switch (when.action) {
      case ast::MergeAction::kDoNothing:
        break;
      case ast::MergeAction::kDelete:
        action.kind = MergeAction::Kind::kDelete;
        break;
      case ast::MergeAction::kUpdate:
        action.kind = MergeAction::Kind::kUpdate;
        action.assignments = bind_assignments(state_, level_, target_, when.assignments);
        for (const Assignment& assignment : action.assignments) needed_.push_back(assignment.value);
        break;
      case ast::MergeAction::kInsert:
        action.kind = MergeAction::Kind::kInsert;
        action.columns = bind_insert(when);
        break;
    }
    return action;
  }

  std::vector<InsertColumn> bind_insert(const ast::MergeWhen& when) {
    InsertTargets targets(state_, target_, when.columns, when.overriding);
    if (!when.values.empty()) {
      targets.take(when.values.size(), [&](std::size_t i) { return state_.position(when.values[i]->start); });
    }
    Scoped clause(level_.clause, Clause::kValues);
    for (std::size_t i = 0; i < when.values.size(); ++i) {
      const sql::ColumnDef& column = targets[i];
      const bool is_default = std::holds_alternative<ast::DefaultValue>(when.values[i]->node);
      if (!targets.steps(i).empty()) {
        targets.check_part_is_given(i, *when.values[i]);
        ExpressionBinder binder(state_, level_);
        const ExpressionPtr part = binder.bind(*when.values[i]);
        targets.give(column, targets.with_part(i, binder, targets.given(column), part));
        needed_.push_back(targets.given(column));
        continue;
      }
      if (is_default) continue;
      ExpressionPtr value = coerce_for_column(state_, ExpressionBinder(state_, level_).bind(*when.values[i]), column);
      if (targets.is_overridden(column)) continue;
      targets.check_may_be_given(column);
      needed_.push_back(value);
      targets.give(column, std::move(value));
    }
    std::vector<InsertColumn> columns = targets.columns();
    for (InsertColumn& column : columns) {
      if (!column.value) column = {column.number, targets.default_of(*target_.table->find_column(column.number))};
    }
    return columns;
  }

  /// Policies of the target: which rows are seen, which ones may be changed, and what may be written.
  void restrict(LogicalMerge& result) {
    using Row = PolicyCheck::Row;
    const bool reads = reads_columns(result.source, target_.row, target_.plan) || reads_columns(needed_, level_, target_.row);
    if (reads) result.source = with_visible_target(state_, target_, result.source, {PolicyCommand::kSelect});
    for (MergeAction& action : result.actions) {
      if (action.kind == MergeAction::Kind::kNothing) continue;
      PolicyCheckBinder existing(state_, target_, target_.row), changed(state_, target_, result.new_row);
      std::vector<Assignment> values = action.assignments;
      for (const InsertColumn& column : action.columns) {
        if (column.value) values.push_back({column.number, column.value});
      }
      const bool inserts = action.kind == MergeAction::Kind::kInsert, removes = action.kind == MergeAction::Kind::kDelete;
      if (!inserts) existing.add(removes ? PolicyCommand::kDelete : PolicyCommand::kUpdate, Row::kTarget, true);
      if (!removes) changed.add(inserts ? PolicyCommand::kInsert : PolicyCommand::kUpdate, Row::kNew, false);
      if (reads && action.kind == MergeAction::Kind::kUpdate) changed.add(PolicyCommand::kSelect, Row::kNew, true);
      action.policy_checks = existing.place(result.source, {});
      const std::vector<LogicalColumn> kept = inserts ? std::vector<LogicalColumn>{} : target_.row;
      std::vector<PolicyCheck> of_changed =
          changed.place(result.source, computed_row(*target_.table, result.new_row, kept, values, result.generated));
      std::ranges::move(of_changed, std::back_inserter(action.policy_checks));
    }
  }

  BindState& state_;
  const ast::Merge& merge_;
  QueryLevel level_;
  WriteTarget target_;
  RelationPtr relation_;                // the target's
  std::vector<ExpressionPtr> needed_;   // their subqueries are to be placed
};

}  // namespace

LogicalPtr bind_merge(BindState& state, const ast::Merge& merge) { return MergeBinder(state, merge).bind(); }

}  // namespace redquel::planner
