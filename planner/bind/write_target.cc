#include "planner/bind/write_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "planner/bind/expression_binder.h"
#include "planner/bind/modification.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_binder.h"
#include "planner/bind/relation_lookup.h"
#include "planner/bind/subquery_placement.h"
#include "planner/bind/view_query.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/view_rows.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/row_value.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

std::string not_automatic(std::string_view what) { return fmt::format("Views {} are not automatically updatable.", what); }

std::string no_columns() { return not_automatic("that have no updatable columns"); }

/// Returns the reason, by the query's shape, why rows cannot be written through a view; empty: they can.
std::string refusal(const ast::Select& query) {
  if (query.distinct || !query.distinct_on.empty()) return not_automatic("containing DISTINCT");
  if (!query.group_by.empty()) return not_automatic("containing GROUP BY");
  if (query.having) return not_automatic("containing HAVING");
  if (query.set_operator != ast::SetOperator::kNone) return not_automatic("containing UNION, INTERSECT, or EXCEPT");
  if (query.with) return not_automatic("containing WITH");
  if (query.limit_count || query.limit_offset) return not_automatic("containing LIMIT or OFFSET");
  if (query.from.size() != 1 || !std::holds_alternative<ast::TableRef>(query.from[0].node)) {
    return not_automatic("that do not select from a single table or view");
  }
  return {};
}

SqlError not_updatable(const sql::ViewDef& view, WriteOperation operation, std::string reason) {
  struct Words {
    std::string_view message, gerund, event;
  };
  constexpr Words kWords[] = {{"insert into", "inserting into", "INSERT"}, {"update", "updating", "UPDATE"}, {"delete from", "deleting from", "DELETE"}};
  const Words& words = kWords[static_cast<std::size_t>(operation)];
  return SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("cannot {} view \"{}\"", words.message, view.name))
      .detail(std::move(reason))
      .hint(fmt::format("To enable {} the view, provide an INSTEAD OF {} trigger or an unconditional ON {} DO INSTEAD rule.",
                        words.gerund, words.event, words.event));
}

ExpressionPtr over_row(const ExpressionPtr& expression, const std::vector<LogicalColumn>& from, const std::vector<LogicalColumn>& to) {
  return sql::map_columns(expression, [&](const sql::Expression& whole, const sql::ColumnRef& column) -> ExpressionPtr {
    for (std::size_t i = 0; i < to.size() && i < from.size(); ++i) {
      if (from[i].id == column.column) return reference(to[i], whole.offset);
    }
    return sql::make_expression(whole.type, column, whole.offset);
  });
}

WriteTarget table_target(BindState& state, std::shared_ptr<const sql::TableDef> table, const std::string& alias, WriteOperation operation) {
  WriteTarget target{.table = std::move(table)};
  target.requirement = state.requirements.add(sql::AclKind::kTable, target.table->oid, rights_of(operation));
  target.checked_as = state.requirements.bound_as;
  target.scan = target.plan = scan_table(state, target.table, alias, /*hidden_key=*/true);
  target.row = target.plan->columns;
  for (std::size_t i = 0; i < target.table->columns.size(); ++i) {
    const sql::ColumnDef& column = target.table->columns[i];
    target.columns.push_back({column.name, reference(target.row[i]), column.number, column.hidden});
  }
  return target;
}

sql::TriggerDef::Event event_of(WriteOperation operation) {
  switch (operation) {
    case WriteOperation::kInsert: return sql::TriggerDef::Event::kInsert;
    case WriteOperation::kUpdate: return sql::TriggerDef::Event::kUpdate;
    case WriteOperation::kDelete: break;
  }
  return sql::TriggerDef::Event::kDelete;
}

/// The rows of a view that triggers INSTEAD OF take.
WriteTarget triggered_target(BindState& state, const std::shared_ptr<const sql::ViewDef>& view, WriteOperation operation) {
  WriteTarget target{.table = sql::view_rows(*view), .view = view};
  target.requirement = state.requirements.add(sql::AclKind::kTable, view->oid, rights_of(operation));
  target.checked_as = state.requirements.bound_as;
  if (operation == WriteOperation::kInsert) {
    target.row = make_row_columns(state, *target.table);
  } else {
    const Scoped depth(state.requirements.depth, state.requirements.depth + 1);
    target.scan = target.plan = bind_view(state, *view).plan;
    target.row = target.plan->columns;
  }
  for (std::size_t i = 0; i < view->columns.size(); ++i) {
    target.columns.push_back({view->columns[i].name, reference(target.row[i]), static_cast<std::int16_t>(i + 1)});
  }
  return target;
}

/// Puts a view on top of its base.
class ViewTargetBinder {
 public:
  ViewTargetBinder(BindState& state, std::shared_ptr<const sql::ViewDef> view, WriteOperation operation)
      : state_(state), view_(std::move(view)), operation_(operation) {}

  /// `checked`: the view above has WITH CASCADED CHECK OPTION.
  WriteTarget bind(bool checked) {
    sql::check_stack_depth();
    state_.count_query();
    const std::shared_ptr<const ast::Select> parsed = parse_view_query(*view_);
    state_.keep_alive(parsed);
    const ast::Select& query = *parsed;
    if (std::string reason = refusal(query); !reason.empty()) throw not_updatable(*view_, operation_, std::move(reason));
    check_view_columns(*view_, query.targets.size());
    const Scoped positions(state_.keeps_positions, false);
    const Scoped<NameUses*> names(state_.names, nullptr);
    Requirement* const requirement = state_.requirements.add(sql::AclKind::kTable, view_->oid, rights_of(operation_));
    const Scoped depth(state_.requirements.depth, state_.requirements.depth + 1);
    const ViewRights rights(state_, *view_);
    const auto& from = std::get<ast::TableRef>(query.from[0].node);
    const FoundTable found = find_table(state_, from.name);
    const bool is_view = found.view && state_.catalog.find_view(found.view->oid) != nullptr;
    if (!found.table && !is_view) {
      throw not_updatable(*view_, operation_, not_automatic("that do not select from a single table or view"));
    }
    base_ = found.table ? found.table->oid : found.view->oid;
    using CheckOption = sql::ViewDef::CheckOption;
    const bool cascades = checked || view_->check_option == CheckOption::kCascaded;
    WriteTarget target = found.table ? table_target(state_, found.table, found.table->name, operation_)
                         : found.view->has_instead_of(event_of(operation_))
                             ? triggered_target(state_, found.view, operation_)
                             : ViewTargetBinder(state_, found.view, operation_).bind(cascades);
    bind_over(query, from, target, cascades || view_->check_option == CheckOption::kLocal, requirement);
    return target;
  }

  /// The oid of the table or view right under the view that bind() has bound.
  sql::Oid base() const { return base_; }

 private:
  void bind_over(const ast::Select& query, const ast::TableRef& from, WriteTarget& target, bool checked, Requirement* requirement) {
    QueryLevel level;
    const RelationPtr relation = target_relation(target, from.alias, target.row);
    level.names.push_back({.relation = relation});
    level.range_table.push_back(relation);
    if (query.where) {
      Scoped clause(level.clause, Clause::kWhere);
      const ExpressionPtr condition = ExpressionBinder(state_, level).bind_boolean(*query.where, "WHERE");
      if (checked) {
        if (needs_subquery(level, *condition)) throw sql::not_supported("WITH CHECK OPTION over a condition with a subquery");
        target.checks.push_back({view_->name, condition});
      }
      if (operation_ == WriteOperation::kInsert) {
        target.visibility.push_back({view_->name, condition, std::move(level.subqueries)});
      } else {
        target.plan = place_condition(state_, level, target.plan, condition);
        if (view_->is_security_barrier()) target.plan = behind_barrier(std::move(target.plan));
      }
    }
    std::vector<WriteTarget::Column> columns;
    std::vector<std::int16_t> columns_below;
    bool passes_any = false;
    Scoped clause(level.clause, Clause::kSelectList);
    for (std::size_t i = 0; i < query.targets.size(); ++i) {
      const ExpressionPtr value = resolve_unknown(state_, ExpressionBinder(state_, level).bind(*query.targets[i].value));
      if (!level.aggregates.empty()) throw not_updatable(*view_, operation_, not_automatic("that return aggregate functions"));
      if (!level.window_calls.empty()) throw not_updatable(*view_, operation_, not_automatic("that return window functions"));
      if (!level.set_returning.empty()) throw not_updatable(*view_, operation_, not_automatic("that return set-returning functions"));
      if (needs_subquery(level, *value)) throw sql::not_supported("writing to a view with a subquery in its select list");
      const auto* passed = std::get_if<sql::ColumnRef>(&value->node);
      const bool names_column = std::holds_alternative<ast::ColumnRef>(query.targets[i].value->node);
      WriteTarget::Column column{.name = view_->columns[i].name, .value = value, .view = view_->name,
                                 .is_system = names_column && !sql::is_row_type(value->type.oid)};
      columns_below.push_back(0);
      for (const WriteTarget::Column& below : target.columns) {
        const auto* base = std::get_if<sql::ColumnRef>(&below.value->node);
        const bool is_column = passed != nullptr && base != nullptr && base->column == passed->column;
        const bool is_computed_below = below.number == 0 && names_column && sql::equal(*below.value, *value);
        if (!is_column && !is_computed_below) continue;
        passes_any = true;
        column.number = below.number;
        columns_below.back() = target.attribute_of(below.name);
        column.is_system = below.is_system;
        if (!below.view.empty()) column.view = below.view;
      }
      columns.push_back(std::move(column));
    }
    // Columns that a view below computes are refused where they are written.
    if (!passes_any && operation_ != WriteOperation::kDelete) throw not_updatable(*view_, operation_, no_columns());
    state_.requirements.pass_on(requirement, target.requirement, std::move(columns_below));
    target.columns = std::move(columns);
    target.by_name.clear();
    target.view = view_;
    target.requirement = requirement;
    set_defaults(target);
  }

  /// Defaults of the view's columns stand before those of the table; an UPDATE to DEFAULT knows no others.
  void set_defaults(WriteTarget& target) const {
    const bool has_defaults = std::ranges::any_of(view_->columns, [](const sql::ViewDef::Column& column) { return !column.default_sql.empty(); });
    if (!has_defaults && operation_ != WriteOperation::kUpdate) return;
    auto table = std::make_shared<sql::TableDef>(*target.table);
    for (std::size_t i = 0; i < target.columns.size(); ++i) {
      const std::int16_t number = target.columns[i].number;
      if (number == 0) continue;
      sql::ColumnDef& column = table->columns[table->position(number)];
      const std::string& own = view_->columns[i].default_sql;
      if (own.empty() && (operation_ != WriteOperation::kUpdate || column.identity != sql::ColumnDef::Identity::kNone)) continue;
      column.default_sql = own;
      column.sequence = 0;
    }
    target.table = std::move(table);
  }

  BindState& state_;
  std::shared_ptr<const sql::ViewDef> view_;
  WriteOperation operation_;
  sql::Oid base_ = 0;
};

}  // namespace

sql::Rights rights_of(WriteOperation operation) {
  switch (operation) {
    case WriteOperation::kInsert: return sql::right::kInsert;
    case WriteOperation::kUpdate: return sql::right::kUpdate;
    case WriteOperation::kDelete: break;
  }
  return sql::right::kDelete;
}

const WriteTarget::Column* WriteTarget::find(std::string_view column) const {
  const auto name_of = [&](std::uint32_t place) { return std::string_view(columns[place].name); };
  if (by_name.size() != columns.size()) {
    by_name.resize(columns.size());
    std::iota(by_name.begin(), by_name.end(), 0U);
    std::ranges::stable_sort(by_name, {}, name_of);
  }
  const auto found = std::ranges::lower_bound(by_name, column, {}, name_of);
  return found != by_name.end() && name_of(*found) == column ? &columns[*found] : nullptr;
}

std::int16_t WriteTarget::attribute_of(std::string_view column) const {
  const Column* found = find(column);
  if (found == nullptr) return 0;
  return view ? static_cast<std::int16_t>(found - columns.data() + 1) : found->number;
}

WriteTarget bind_write_target(BindState& state, const ast::TableRef& written, WriteOperation operation) {
  const FoundTable found = find_target_relation(state, written.name);
  const std::string& alias = written.alias ? written.alias->name : written.name.name;
  WriteTarget target = found.table                                         ? table_target(state, found.table, alias, operation)
                       : found.view->has_instead_of(event_of(operation)) ? triggered_target(state, found.view, operation)
                                                                         : ViewTargetBinder(state, found.view, operation).bind(false);
  target.operation = operation;
  return target;
}

const sql::ColumnDef& find_target_column(const BindState& state, const WriteTarget& target, const ast::AssignmentTarget& written) {
  const auto offset = state.position(written.offset);
  const WriteTarget::Column* found = target.find(written.column);
  if (found == nullptr) throw sql::undefined_column(written.column, target.name()).at(offset);
  if (found->number == 0) {
    throw SqlError(sqlstate::kFeatureNotSupported,
                   fmt::format("cannot {} column \"{}\" of view \"{}\"", target.operation == WriteOperation::kInsert ? "insert into" : "update",
                               found->name, found->view))
        .detail(fmt::format("View columns that {} are not updatable.",
                            found->is_system ? "refer to system columns" : "are not columns of their base relation"));
  }
  return *target.table->find_column(found->number);
}

RelationPtr target_relation(const WriteTarget& target, const std::optional<ast::Alias>& alias, const std::vector<LogicalColumn>& row) {
  auto relation = std::make_shared<Relation>(Relation{.name = target.name()});
  if (target.view) {
    relation->view = target.view;
  } else {
    relation->table = target.table;
  }
  std::int16_t position = 0;
  for (const WriteTarget::Column& column : target.columns) {
    ++position;
    (column.hidden ? relation->hidden : relation->columns)
        .push_back({column.name, over_row(column.value, target.row, row), target.requirement, target.view ? position : column.number});
  }
  relation->requirement = target.requirement;
  if (!target.view && target.table->has_hidden_key() && row.size() > target.table->columns.size()) relation->row_number = reference(row.back());
  apply_alias(*relation, alias);
  return relation;
}

void append_view_checks(const WriteTarget& target, const std::vector<LogicalColumn>& new_row, std::vector<BoundCheck>& checks) {
  for (const WriteTarget::Check& check : target.checks) {
    checks.push_back({.name = {}, .condition = over_row(check.condition, target.row, new_row), .view = check.view});
  }
}

void append_visibility_checks(BindState& state, const WriteTarget& target, const std::vector<LogicalColumn>& met, LogicalPtr& source,
                              std::vector<PolicyCheck>& checks) {
  const auto over_met = [&](const ExpressionPtr& expression) { return expression ? over_row(expression, target.row, met) : nullptr; };
  QueryLevel level;
  std::vector<ExpressionPtr> conditions;
  for (const WriteTarget::Visibility& visible : target.visibility) {
    for (PendingSubquery pending : visible.subqueries) {
      pending.comparison = over_met(pending.comparison);
      for (Correlation& correlation : pending.correlations) correlation.value = over_met(correlation.value);
      level.subqueries.push_back(std::move(pending));
    }
    conditions.push_back(over_met(visible.condition));
    checks.push_back({.row = PolicyCheck::Row::kConflict, .policy = {}, .condition = conditions.back(), .view = visible.view});
  }
  source = place_subqueries(state, level, std::move(source), conditions);
}

std::string set_updatable(sql::ViewDef& view, const sql::CatalogSnapshot& catalog) {
  const BindSettings settings;
  BindState state(catalog, settings, {}, 0);
  view.base = 0;
  for (sql::ViewDef::Column& column : view.columns) column.updatable = false;
  const auto written = std::make_shared<const sql::ViewDef>(view);
  try {
    ViewTargetBinder binder(state, written, WriteOperation::kDelete);
    const WriteTarget target = binder.bind(false);
    for (std::size_t i = 0; i < view.columns.size(); ++i) view.columns[i].updatable = target.columns[i].number != 0;
    if (binder.base() >= sql::kFirstUserOid) view.base = binder.base();
    ViewTargetBinder(state, written, WriteOperation::kUpdate).bind(false);
  } catch (const SqlError& error) {
    return error.detail();
  }
  return {};
}

}  // namespace redquel::planner
