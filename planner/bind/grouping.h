#pragma once

#include <optional>
#include <set>
#include <vector>

#include "planner/bind/grouping_sets.h"

namespace redquel::planner {

/// The rows of a query after grouping: expressions that were bound over the ungrouped rows are rewritten to the group
/// keys and aggregates, or refused.
class GroupedInput {
 public:
  GroupedInput(BindState& state, QueryLevel& level, LogicalPtr input, GroupingClause);

  /// 42803 "column "t.a" must appear in the GROUP BY clause or be used in an aggregate function". A column of a table
  /// whose whole primary key is grouped by becomes a further key.
  sql::ExpressionPtr rewrite(const sql::ExpressionPtr&);
  /// Like rewrite(), for the target with this number, which may be a key itself.
  sql::ExpressionPtr rewrite_target(std::size_t number, const sql::ExpressionPtr&);
  /// The LogicalAggregate, after everything above it was rewritten; of several grouping sets a union of one for each.
  LogicalPtr place();

 private:
  void compute_waiting_parts();
  LogicalPtr place_groups();
  LogicalPtr place_sets();
  LogicalPtr place_set(std::uint32_t number, const std::vector<std::size_t>& set);
  static LogicalColumn call_column(const PendingAggregate&);
  void add_groupings(LogicalProject&, std::vector<LogicalColumn>& columns, const std::vector<std::size_t>& set) const;
  void check_grouping(const PendingGrouping&) const;
  void check_direct_arguments(const PendingAggregate&);
  std::optional<std::size_t> key_position(const sql::Expression&) const;
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
  std::vector<std::vector<std::size_t>> sets_;
  std::vector<std::size_t> key_targets_;  // of the keys that GROUP BY names
  bool has_sets_;
  std::set<std::size_t> rewritten_;  // subqueries that are done
  std::set<ColumnId> exempt_;     // columns of the subquery whose comparison is being rewritten
  bool inside_subquery_ = false;
};

}  // namespace redquel::planner
