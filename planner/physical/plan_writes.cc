#include <algorithm>

#include "planner/physical/increment.h"
#include "planner/physical/physical_planner.h"
#include "sql/catalog/table_triggers.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

void resolve_all(std::vector<ExpressionPtr>& expressions, const std::vector<ColumnId>& ids) {
  for (ExpressionPtr& expression : expressions) expression = resolve(expression, ids);
}

void resolve_all(std::vector<Assignment>& assignments, const std::vector<ColumnId>& ids) {
  for (Assignment& assignment : assignments) assignment.value = resolve(assignment.value, ids);
}

void resolve_all(std::vector<BoundCheck>& checks, const std::vector<ColumnId>& ids) {
  for (BoundCheck& check : checks) check.condition = resolve(check.condition, ids);
}

std::vector<PolicyCheck> resolved(const std::vector<PolicyCheck>& checks, const std::vector<LogicalColumn>& new_row,
                                  const std::vector<ColumnId>& source) {
  std::vector<ColumnId> ids = column_ids(new_row);
  ids.insert(ids.end(), source.begin(), source.end());
  std::vector<PolicyCheck> result = checks;
  for (PolicyCheck& check : result) check.condition = resolve(check.condition, check.row == PolicyCheck::Row::kNew ? ids : source);
  return result;
}

std::vector<std::size_t> positions_of(const std::vector<LogicalColumn>& columns, const std::vector<ColumnId>& ids) {
  std::vector<std::size_t> positions;
  for (const LogicalColumn& column : columns) {
    const bool is_missing = column.attribute == sql::kTtlColumn && std::find(ids.begin(), ids.end(), column.id) == ids.end();
    positions.push_back(is_missing ? kNotRead : position_of(column.id, ids));
  }
  return positions;
}

template <class Write>
RecheckSource recheck_source(const Write& write, const std::vector<ColumnId>& source) {
  return {write.bound, source, {write.old_row.front().id}};
}

using Event = sql::TriggerDef::Event;

/// A write of a view. The checks and what is returned are over `row`.
template <class Write>
Planned view_write(const Logical& node, const Write& write, PhysicalViewWrite physical, const std::vector<ColumnId>& row) {
  if constexpr (requires { write.checks; }) physical.checks = write.checks;
  physical.returning = write.returning;
  physical.has_returning = !node.columns.empty();
  resolve_all(physical.checks, row);
  resolve_all(physical.returning, row);
  return {make_physical(std::move(physical), physical_columns(node.columns)), column_ids(node.columns)};
}

Planned plan_view_insert(const Logical& node, const LogicalInsert& insert, const Planned& source) {
  PhysicalViewWrite physical{.event = Event::kInsert, .view = insert.table, .source = source.plan};
  for (const InsertColumn& column : insert.columns) physical.new_row.push_back(resolve(column.value, source.ids));
  return view_write(node, insert, std::move(physical), column_ids(insert.new_row));
}

Planned plan_view_update(const Logical& node, const LogicalUpdate& update, const Planned& source) {
  PhysicalViewWrite physical{.event = Event::kUpdate, .view = update.table, .source = source.plan, .old_row = positions_of(update.old_row, source.ids)};
  for (std::size_t i = 0; i < update.table->columns.size(); ++i) {
    const sql::ColumnDef& column = update.table->columns[i];
    physical.new_row.push_back(sql::make_column(column.type, static_cast<ColumnId>(physical.old_row[i]), column.name));
  }
  for (const Assignment& assignment : update.assignments) {
    physical.new_row[update.table->position(assignment.number)] = resolve(assignment.value, source.ids);
    physical.assigned.push_back(assignment.number);
  }
  std::vector<ColumnId> row = column_ids(update.new_row);
  row.insert(row.end(), source.ids.begin(), source.ids.end());
  return view_write(node, update, std::move(physical), row);
}

Planned plan_view_delete(const Logical& node, const LogicalDelete& removal, const Planned& source) {
  PhysicalViewWrite physical{.event = Event::kDelete, .view = removal.table, .source = source.plan, .old_row = positions_of(removal.old_row, source.ids)};
  return view_write(node, removal, std::move(physical), source.ids);
}

}  // namespace

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalInsert& insert, const Wish&) {
  Planned source = plan(insert.source);
  if (insert.table->of_view) return plan_view_insert(node, insert, source);
  PhysicalInsert physical{insert.table,     source.plan, insert.columns, insert.generated, insert.checks, insert.returning, !node.columns.empty(),
                          insert.on_conflict, insert.conflict_columns, {}};
  for (InsertColumn& column : physical.columns) column.value = resolve(column.value, source.ids);
  if (insert.conflict_update) {
    ConflictUpdate<std::size_t> update{positions_of(insert.conflict_update->old_row, source.ids), insert.conflict_update->assignments,
                                       resolve(insert.conflict_update->condition, source.ids)};
    resolve_all(update.assignments, source.ids);
    update.policy_checks = resolved(insert.conflict_update->policy_checks, insert.new_row, source.ids);
    physical.conflict_update = std::move(update);
  }
  physical.policy_checks = resolved(insert.policy_checks, insert.new_row, source.ids);
  auto new_row = column_ids(insert.new_row);
  resolve_all(physical.generated, new_row);
  resolve_all(physical.checks, new_row);
  resolve_all(physical.returning, new_row);
  return {make_physical(std::move(physical), physical_columns(node.columns)), column_ids(node.columns)};
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalUpdate& update, const Wish&) {
  Planned source = plan(update.source);
  if (update.table->of_view) return plan_view_update(node, update, source);
  PhysicalUpdate physical{update.table,  source.plan,      positions_of(update.old_row, source.ids), update.assignments,
                          update.generated, update.checks, update.returning, !node.columns.empty()};
  resolve_all(physical.assignments, source.ids);
  auto ids = column_ids(update.new_row);
  ids.insert(ids.end(), source.ids.begin(), source.ids.end());
  resolve_all(physical.generated, ids);
  resolve_all(physical.checks, ids);
  resolve_all(physical.returning, ids);
  physical.policy_checks = resolved(update.policy_checks, update.new_row, source.ids);
  // Triggers look at whole rows.
  const auto is_for_update = [](const sql::TriggerDef& trigger) { return trigger.is_for(sql::TriggerDef::Event::kUpdate); };
  const bool fires = catalog_ == nullptr ? std::ranges::any_of(update.table->triggers, is_for_update) : sql::any_trigger_of_writes(*catalog_, update.table, is_for_update);
  if (!fires) {
    find_added_columns(physical);
    physical.may_write_unread = may_write_unread(physical);
  }
  physical.recheck = recheck_source(update, source.ids);
  return {make_physical(std::move(physical), physical_columns(node.columns)), column_ids(node.columns)};
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalDelete& removal, const Wish&) {
  Planned source = plan(removal.source);
  if (removal.table->of_view) return plan_view_delete(node, removal, source);
  PhysicalDelete physical{removal.table, source.plan, positions_of(removal.old_row, source.ids), removal.returning,
                          !node.columns.empty()};
  resolve_all(physical.returning, source.ids);
  physical.recheck = recheck_source(removal, source.ids);
  return {make_physical(std::move(physical), physical_columns(node.columns)), column_ids(node.columns)};
}

Planned PhysicalPlanner::plan_node(const Logical&, const LogicalMerge& merge, const Wish&) {
  Planned source = plan(merge.source);
  PhysicalMerge physical{merge.table, source.plan, positions_of(merge.old_row, source.ids), merge.actions, merge.generated, merge.checks};
  for (MergeAction& action : physical.actions) {
    action.condition = resolve(action.condition, source.ids);
    for (InsertColumn& column : action.columns) column.value = resolve(column.value, source.ids);
    resolve_all(action.assignments, source.ids);
    action.policy_checks = resolved(action.policy_checks, merge.new_row, source.ids);
  }
  const auto new_row = column_ids(merge.new_row);
  resolve_all(physical.generated, new_row);
  resolve_all(physical.checks, new_row);
  physical.recheck = recheck_source(merge, source.ids);
  return {make_physical(std::move(physical), {}), {}};
}

}  // namespace redquel::planner
