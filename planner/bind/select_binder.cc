#include "planner/bind/collation.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/from_binder.h"
#include "planner/bind/grouping.h"
#include "planner/bind/locking.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_binder.h"
#include "planner/bind/subquery_placement.h"
#include "planner/bind/target_list.h"
#include "planner/bind/window_binder.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;

namespace {

/// Untyped outputs become text, unless the enclosing query types them: then `unknowns` keeps them, and the plan has an unused text column
/// in their place.
void settle_unknowns(BindState& state, TargetList& targets, bool keep_unknowns, BoundQuery& query) {
  for (Target& target : targets.items()) {
    if (target.junk) continue;
    query.offsets.push_back(target.value->offset);
    query.collations.push_back(known_collation(*target.value));
    query.unknowns.push_back(nullptr);
    if (!is_unknown(*target.value)) continue;
    if (!keep_unknowns) {
      target.value = resolve_unknown(state, target.value);
    } else {
      query.unknowns.back() = target.value;
      target.value = sql::make_constant(sql::kText, {});
    }
  }
}

}  // namespace

BoundQuery bind_select(BindState& state, QueryLevel* outer, WithItem* with, const ast::Select& select,
                       bool keep_unknowns, const std::optional<RowLock>& pushed) {
  // The order of the steps decides which error is reported and which context types a parameter: it is PostgreSQL's.
  QueryLevel level{.outer = outer, .with = with};
  for (const ast::WindowDefinition& window : select.windows) level.windows.push_back({.written = &window});
  level.locking = row_locking(select, pushed);
  LogicalPtr plan = FromBinder(state, level).bind(select.from);
  level.clause = Clause::kSelectList;
  TargetList targets(state, level, bind_targets(state, level, select.targets));

  ExpressionPtr where, having;
  if (select.where) {
    Scoped clause(level.clause, Clause::kWhere);
    where = ExpressionBinder(state, level).bind_boolean(*select.where, "WHERE");
  }
  if (select.having) {
    Scoped clause(level.clause, Clause::kHaving);
    const ExpressionBinder::KnownValues known = targets.with_subqueries();
    ExpressionBinder binder(state, level);
    binder.repeat(known);
    having = binder.bind_boolean(*select.having, "HAVING");
  }
  QueryTail tail;
  bind_order_by(state, targets, tail, select);
  GroupingClause grouping = bind_group_by(state, targets, select);
  bind_distinct(state, targets, tail, select);
  bind_limit(state, level, tail, select);
  bind_windows(state, level);
  check_target_count(targets.items().size());
  check_locking(state, level, select, pushed);
  BoundQuery query;
  settle_unknowns(state, targets, keep_unknowns, query);
  if (level.reads_recursion && !level.aggregates.empty()) {
    throw sql::SqlError(sqlstate::kInvalidRecursion, "aggregate functions are not allowed in a recursive query's recursive term")
        .at(level.aggregates[0].offset);
  }

  plan = place_condition(state, level, std::move(plan), where);
  const bool grouped = !select.group_by.empty() || select.having || !level.aggregates.empty() || !level.groupings.empty();
  if (grouped) {
    GroupedInput groups(state, level, std::move(plan), std::move(grouping));
    for (std::size_t i = 0; i < targets.items().size(); ++i) {
      Target& target = targets.items()[i];
      target.value = groups.rewrite_target(i, target.value);
    }
    if (having) having = groups.rewrite(having);
    rewrite_windows(level, groups);
    // Without groups and aggregates HAVING decides about one row, and nothing is read.
    const bool is_degenerate = select.group_by.empty() && level.aggregates.empty() && level.groupings.empty();
    plan = place_condition(state, level, is_degenerate ? one_row() : groups.place(), having);
  }
  plan = place_windows(state, level, std::move(plan));
  // Rows that the surroundings lock are theirs, unless they are cut off here.
  level.passes_locks = pushed && select.locking.empty() && !tail.limit && !tail.offset;
  query.plan = place_tail(state, level, std::move(plan), targets, tail);
  if (level.passes_locks) {
    query.lock_marks = std::move(level.lock_marks);
    query.lock_columns = query.plan->columns.size() - targets.visible();
  }
  return query;
}

}  // namespace redquel::planner
