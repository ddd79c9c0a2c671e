#pragma once

#include <set>
#include <vector>

#include "planner/bind/ordering.h"

namespace redquel::planner {

/// The keys of GROUP BY. 0A000 for grouping sets.
std::vector<sql::ExpressionPtr> bind_group_by(BindState&, TargetList&, const parser::ast::Select&);

/// The rows of a query after grouping: expressions that were bound over the ungrouped rows are rewritten to the group
/// keys and aggregates, or refused.
class GroupedInput {
 public:
  GroupedInput(BindState& state, QueryLevel& level, LogicalPtr input, std::vector<sql::ExpressionPtr> keys);

  /// 42803 "column "t.a" must appear in the GROUP BY clause or be used in an aggregate function". A column of a table
  /// whose whole primary key is grouped by becomes a further key.
  sql::ExpressionPtr rewrite(const sql::ExpressionPtr&);
  /// The LogicalAggregate, after everything above it was rewritten.
  LogicalPtr place();

 private:
  sql::ExpressionPtr rewrite_column(const sql::ExpressionPtr&, ColumnId);
  void rewrite_subquery(PendingSubquery&);
  bool depends_on_keys(ColumnId) const;
  ColumnId add_key(const sql::ExpressionPtr& key);
  [[noreturn]] void throw_ungrouped(const sql::Expression&, ColumnId) const;

  BindState& state_;
  QueryLevel& level_;
  LogicalPtr input_;
  std::vector<sql::ExpressionPtr> keys_;
  std::vector<LogicalColumn> key_columns_;  // parallel to keys_
  bool scalar_;
  std::set<ColumnId> rewritten_;  // subqueries that are done
  std::set<ColumnId> exempt_;     // columns of the subquery whose comparison is being rewritten
  bool inside_subquery_ = false;
};

}  // namespace redquel::planner
