// The values that FROM items are computed from: arguments of functions, percentages of samples.

#include <set>

#include "planner/bind/from_binder.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/subquery_placement.h"
#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;

void FromBinder::pass_outer_columns(std::vector<ExpressionPtr> waiting, CorrelationFrame& lateral) {
  const auto from_slots = [&](const ExpressionPtr& expression) {
    return sql::map_columns(expression, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
      const ExpressionPtr value = sql::make_expression(whole.type, column, whole.offset);
      return level_.find_subquery(column.column) == nullptr ? correlate(state_, lateral, value) : value;
    });
  };
  std::set<ColumnId> passed;
  while (!waiting.empty()) {
    const ExpressionPtr expression = std::move(waiting.back());
    waiting.pop_back();
    for (const ColumnId id : columns_in(*expression)) {
      PendingSubquery* pending = level_.find_subquery(id);
      if (pending == nullptr || !passed.insert(id).second) continue;
      for (Correlation& correlation : pending->correlations) {
        waiting.push_back(correlation.value);
        correlation.value = from_slots(correlation.value);
      }
      if (!pending->comparison) continue;
      const std::set<ColumnId> own = ids_of(*pending->plan);
      waiting.push_back(pending->comparison);
      pending->comparison = sql::map_columns(pending->comparison, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
        const ExpressionPtr value = sql::make_expression(whole.type, column, whole.offset);
        return own.contains(column.column) ? value : from_slots(value);
      });
    }
  }
}

LogicalPtr FromBinder::pass_values(std::span<ExpressionPtr* const> values, CorrelationFrame& lateral, CorrelationFrame& subqueries) {
  std::vector<ExpressionPtr> needed;
  for (const ExpressionPtr* value : values) needed.push_back(*value);
  pass_outer_columns(needed, lateral);
  const LogicalPtr input = place_subqueries(state_, level_, one_row(), needed);
  for (ExpressionPtr* value : values) {
    *value = sql::map_columns(*value, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
      CorrelationFrame& frame = find_column(*input, column.column) ? subqueries : lateral;
      return correlate(state_, frame, sql::make_expression(whole.type, column, whole.offset));
    });
  }
  return input;
}

}  // namespace redquel::planner
