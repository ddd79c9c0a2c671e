#include "planner/bind/subquery_placement.h"

#include <algorithm>

#include "planner/bind/plan_nodes.h"
#include "planner/bind/subquery_join.h"
#include "planner/tree/logical_walk.h"
#include "sql/stack_depth.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

LogicalPtr place(BindState& state, const QueryLevel& level, LogicalPtr input, const PendingSubquery& pending) {
  std::vector<ExpressionPtr> needed = {pending.comparison};
  std::vector<ExpressionPtr> values;
  for (const Correlation& correlation : pending.correlations) values.push_back(correlation.value);
  needed.insert(needed.end(), values.begin(), values.end());
  input = place_subqueries(state, level, std::move(input), needed);

  LogicalApply apply{.kind = pending.kind};
  const std::vector<ColumnId> ids = add_columns(state, input, values);
  for (std::size_t i = 0; i < ids.size(); ++i) apply.correlations.push_back({pending.correlations[i].slot, ids[i]});
  std::vector<LogicalColumn> columns = input->columns;
  if (pending.kind == LogicalApply::Kind::kLateral) {
    columns.insert(columns.end(), pending.plan->columns.begin(), pending.plan->columns.end());
  } else {
    const bool nullable = pending.kind != LogicalApply::Kind::kExists;
    columns.push_back({.id = pending.column, .name = pending.name, .type = pending.type, .nullable = nullable});
  }
  apply.input = std::move(input);
  apply.subquery = pending.plan;
  apply.comparison = pending.comparison;
  apply.all = pending.all;
  return make_logical(std::move(apply), std::move(columns));
}

}  // namespace

bool needs_subquery(const QueryLevel& level, const sql::Expression& expression) {
  if (level.subqueries.empty()) return false;
  std::vector<ColumnId> columns;
  sql::collect_columns(expression, columns);
  return std::ranges::any_of(columns, [&](ColumnId id) { return level.find_subquery(id) != nullptr; });
}

LogicalPtr place_subqueries(BindState& state, const QueryLevel& level, LogicalPtr input,
                            std::span<const ExpressionPtr> expressions) {
  if (level.subqueries.empty()) return input;
  sql::check_stack_depth();
  for (const ExpressionPtr& expression : expressions) {
    if (!expression) continue;
    std::vector<ColumnId> columns;
    sql::collect_columns(*expression, columns);
    for (ColumnId id : columns) {
      const PendingSubquery* pending = level.find_subquery(id);
      if (pending != nullptr && find_column(*input, id) == nullptr)
        input = place(state, level, std::move(input), *pending);
    }
  }
  return input;
}

LogicalPtr place_condition(BindState& state, const QueryLevel& level, LogicalPtr input,
                           const ExpressionPtr& condition) {
  if (!condition) return input;
  std::vector<ExpressionPtr> plain, subqueries;
  for (const ExpressionPtr& conjunct : sql::split_conjunction(condition)) {
    (needs_subquery(level, *conjunct) ? subqueries : plain).push_back(conjunct);
  }
  input = filtered(std::move(input), std::move(plain));
  std::vector<ExpressionPtr> rest;
  for (const ExpressionPtr& conjunct : subqueries) {
    if (LogicalPtr joined = join_subquery(state, level, input, conjunct)) {
      input = std::move(joined);
    } else if (LogicalPtr found = look_up_values(state, level, input, conjunct)) {
      input = std::move(found);
    } else {
      rest.push_back(conjunct);
    }
  }
  input = place_subqueries(state, level, std::move(input), rest);
  return filtered(std::move(input), std::move(rest));
}

}  // namespace redquel::planner
