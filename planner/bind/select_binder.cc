#include "planner/bind/expression_binder.h"
#include "planner/bind/from_binder.h"
#include "planner/bind/grouping.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_binder.h"
#include "planner/bind/subquery_placement.h"
#include "planner/bind/target_list.h"
#include "sql/error.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;

namespace {

/// Untyped outputs become text, unless the surroundings want to type them: then `unknowns` keeps them, and the plan has
/// a text column in their place that nobody reads.
void settle_unknowns(BindState& state, TargetList& targets, bool keep_unknowns, BoundQuery& query) {
  for (Target& target : targets.items()) {
    if (target.junk) continue;
    query.offsets.push_back(target.value->offset);
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
                       bool keep_unknowns) {
  // The order of the steps decides which error is reported and which context types a parameter: it is PostgreSQL's.
  QueryLevel level{.outer = outer, .with = with};
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
    having = ExpressionBinder(state, level).bind_boolean(*select.having, "HAVING");
  }
  QueryTail tail;
  bind_order_by(state, targets, tail, select);
  std::vector<ExpressionPtr> group_keys = bind_group_by(state, targets, select);
  bind_distinct(state, targets, tail, select);
  bind_limit(state, level, tail, select);
  if (!select.windows.empty()) throw sql::not_supported("WINDOW", state.position(select.windows[0].offset));
  BoundQuery query;
  settle_unknowns(state, targets, keep_unknowns, query);

  plan = place_condition(state, level, std::move(plan), where);
  const bool grouped = !select.group_by.empty() || select.having || !level.aggregates.empty();
  if (grouped) {
    GroupedInput groups(state, level, std::move(plan), std::move(group_keys));
    for (Target& target : targets.items()) target.value = groups.rewrite(target.value);
    if (having) having = groups.rewrite(having);
    plan = place_condition(state, level, groups.place(), having);
  }
  query.plan = place_tail(state, level, std::move(plan), targets, tail);
  return query;
}

}  // namespace redquel::planner
