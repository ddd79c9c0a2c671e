#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "planner/bind/query_level.h"
#include "planner/bind/write_target.h"

namespace redquel::planner {

// Row level security (PostgreSQL's rowsecurity.c): which rows a statement sees and which ones it may write. Policies count for the role as
// which the part of the statement is bound, and so do their subqueries.

using PolicyCommand = sql::PolicyDef::Command;

/// Returns true if policies restrict the table's rows for the part that is being bound. Notes that the plan depends on the role. 42501 if
/// the parameter row_security is off.
bool is_restricted(BindState& state, const sql::TableDef& table);
/// Like is_restricted() above, for the table that a statement writes to.
bool is_restricted(BindState& state, const WriteTarget& target);

/// The rows of `scan`, whose columns begin with the table's, that policies of each of the commands show. Columns: those of `scan`.
/// 42P17 "infinite recursion detected in policy for relation "t"".
LogicalPtr visible_rows(BindState& state, const std::shared_ptr<const sql::TableDef>& table, const LogicalPtr& scan,
                        std::initializer_list<PolicyCommand> commands);
/// Like visible_rows() above, for a relation that a query reads and may lock; `scan` if no policy restricts its rows.
LogicalPtr visible_rows(BindState& state, const std::shared_ptr<const sql::TableDef>& table, const LogicalPtr& scan, bool locks);
/// The plan of a statement that writes, in which the target's rows are those that policies show. `commands`: as above.
LogicalPtr with_visible_target(BindState& state, const WriteTarget& target, const LogicalPtr& plan,
                               std::initializer_list<PolicyCommand> commands);

/// Conditions of policies over rows that a statement writes.
class PolicyCheckBinder {
 public:
  /// `row`: the row that is checked, parallel to the table's columns.
  PolicyCheckBinder(BindState& state, const WriteTarget& target, const std::vector<LogicalColumn>& row);

  /// Adds the checks of a command. `by_using`: by USING, also where there is a WITH CHECK.
  void add(PolicyCommand command, PolicyCheck::Row row, bool by_using);
  /// Gives the checks. Their subqueries are placed above `source`; `values`: the row's columns as they are computed over the source (none: a
  /// column of the source itself).
  std::vector<PolicyCheck> place(LogicalPtr& source, const std::map<ColumnId, sql::ExpressionPtr>& values);
  /// Returns true if a subquery of the checks needs values of the row.
  bool needs_values() const;

 private:
  BindState& state_;
  const WriteTarget& target_;
  QueryLevel level_;
  std::vector<PolicyCheck> checks_;
};

/// The columns of `new_row` as they are computed: `values` by number; a column without one stays as `old_row` has it.
std::map<ColumnId, sql::ExpressionPtr> computed_row(const sql::TableDef& table, const std::vector<LogicalColumn>& new_row,
                                                    const std::vector<LogicalColumn>& old_row, const std::vector<Assignment>& values,
                                                    const std::vector<Assignment>& generated);
/// Returns true if one of the expressions, or a pending subquery of the level, reads one of the columns.
bool reads_columns(std::span<const sql::ExpressionPtr> expressions, const QueryLevel& level, const std::vector<LogicalColumn>& columns);
/// Returns true if an expression of the plan reads one of the columns. Does not look at `below` and its inputs.
bool reads_columns(const LogicalPtr& plan, const std::vector<LogicalColumn>& columns, const LogicalPtr& below);

}  // namespace redquel::planner
