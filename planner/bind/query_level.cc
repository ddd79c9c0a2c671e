#include "planner/bind/query_level.h"

#include <algorithm>

namespace redquel::planner {

std::string_view clause_name(Clause clause) {
  switch (clause) {
    case Clause::kNone:
      return "";
    case Clause::kSelectList:
      return "SELECT";
    case Clause::kWhere:
      return "WHERE";
    case Clause::kHaving:
      return "HAVING";
    case Clause::kGroupBy:
      return "GROUP BY";
    case Clause::kOrderBy:
      return "ORDER BY";
    case Clause::kDistinctOn:
      return "DISTINCT ON";
    case Clause::kLimit:
      return "LIMIT";
    case Clause::kOffset:
      return "OFFSET";
    case Clause::kJoinOn:
      return "JOIN/ON";
    case Clause::kFromSubquery:
      return "sub-SELECT in FROM";
    case Clause::kFromFunction:
      return "function in FROM";
    case Clause::kFilter:
      return "FILTER";
    case Clause::kValues:
    case Clause::kInsertValues:
      return "VALUES";
    case Clause::kUpdateSource:
      return "UPDATE";
    case Clause::kReturning:
      return "RETURNING";
    case Clause::kCheck:
      return "CHECK";
    case Clause::kDefault:
      return "DEFAULT";
    case Clause::kWindowPartition:
      return "PARTITION BY";
    case Clause::kWindowOrder:
      return "ORDER BY";
    case Clause::kFrameRows:
      return "ROWS";
    case Clause::kFrameRange:
      return "RANGE";
    case Clause::kFrameGroups:
      return "GROUPS";
    case Clause::kGenerated:
      return "GENERATED";
    case Clause::kMergeWhen:
      return "MERGE WHEN";
    case Clause::kIndexExpression:
      return "index expressions";
    case Clause::kIndexPredicate:
      return "index predicates";
    case Clause::kPolicy:
      return "POLICY";
    case Clause::kTriggerWhen:
      return "WHEN";
  }
  return "";
}

std::string_view clause_place(Clause clause) {
  switch (clause) {
    case Clause::kJoinOn:
      return "JOIN conditions";
    case Clause::kFromFunction:
      return "functions in FROM";
    case Clause::kCheck:
      return "check constraints";
    case Clause::kDefault:
      return "DEFAULT expressions";
    case Clause::kGenerated:
      return "column generation expressions";
    case Clause::kMergeWhen:
      return "MERGE WHEN conditions";
    case Clause::kPolicy:
      return "policy expressions";
    case Clause::kTriggerWhen:
      return "trigger WHEN conditions";
    case Clause::kFrameRows:
    case Clause::kFrameRange:
    case Clause::kFrameGroups:
      return "window definitions";
    default:
      return clause_name(clause);
  }
}

sql::ExpressionPtr correlate(BindState& state, CorrelationFrame& frame, const sql::ExpressionPtr& value) {
  const auto known =
      std::ranges::find_if(frame, [&](const Correlation& entry) { return sql::equal(*entry.value, *value); });
  const std::uint32_t slot = known != frame.end() ? known->slot : state.new_slot();
  if (known == frame.end()) frame.push_back({slot, value});
  return sql::make_expression(value->type, sql::ParameterRef{slot}, value->offset);
}

const PendingSubquery* QueryLevel::find_subquery(ColumnId column) const {
  const auto found = std::ranges::find_if(subqueries, [&](const PendingSubquery& pending) {
    if (pending.kind != LogicalApply::Kind::kLateral) return pending.column == column;
    return pending.plan && std::ranges::find(pending.plan->columns, column, &LogicalColumn::id) != pending.plan->columns.end();
  });
  return found == subqueries.end() ? nullptr : &*found;
}

bool QueryLevel::is_grouping(ColumnId column) const {
  return std::ranges::find(groupings, column, &PendingGrouping::column) != groupings.end();
}

bool QueryLevel::is_window_call(ColumnId column) const {
  return std::ranges::find(window_calls, column, &PendingWindowCall::column) != window_calls.end();
}

const PendingAggregate* QueryLevel::find_aggregate(ColumnId column) const {
  const auto found = std::ranges::find(aggregates, column, &PendingAggregate::column);
  return found == aggregates.end() ? nullptr : &*found;
}

}  // namespace redquel::planner
