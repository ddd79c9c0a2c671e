#pragma once

#include <string>
#include <vector>

#include "planner/bind/query_level.h"
#include "planner/bind/write_target.h"

namespace redquel::planner {

/// The shared parts of INSERT, UPDATE and DELETE.

/// Ids for a row of the table as it will be: parallel to its live columns.
std::vector<LogicalColumn> make_row_columns(BindState&, const sql::TableDef&);
/// The table's CHECK constraints over these columns.
std::vector<BoundCheck> bind_checks(BindState&, const sql::TableDef&, const std::vector<LogicalColumn>& row);
/// The table's generated columns over these columns.
std::vector<Assignment> bind_generated(BindState&, const sql::TableDef&, const std::vector<LogicalColumn>& row);
/// The column's DEFAULT in the column's type: also the next value of its sequence; NULL where there is none.
sql::ExpressionPtr bind_column_default(BindState&, const sql::TableDef&, const sql::ColumnDef&);
/// Returns true if the column's default value comes from a sequence.
bool has_sequence_default(const sql::ColumnDef&);

/// The statement draws values for the column from its sequence, which needs a right on it unless it is an identity column's.
void require_draws(BindState&, const sql::ColumnDef&);

/// 42804 "column "a" is of type integer but expression is of type text".
sql::ExpressionPtr coerce_for_column(BindState&, const sql::ExpressionPtr&, const sql::ColumnDef&);

/// SET: every assignment's value in its column's type, over the names in the level. 42601 for two of one column, 428C9.
std::vector<Assignment> bind_assignments(BindState&, QueryLevel&, const WriteTarget&,
                                         const std::vector<parser::ast::Assignment>&);

/// RETURNING over the names in the level; the node's columns and values.
struct Returning {
  std::vector<sql::ExpressionPtr> values;
  std::vector<LogicalColumn> columns;
};
Returning bind_returning(BindState&, QueryLevel&, const std::vector<parser::ast::Target>&,
                         const std::vector<LogicalColumn>& input);
/// The writing node with RETURNING. Where that has subqueries, the node returns `input`, and the values are computed above it.
template <class Write>
LogicalPtr with_returning(BindState&, const QueryLevel&, Write, Returning, const std::vector<LogicalColumn>& input);

/// `with`: the WITH queries in sight where the statement is itself one of them.
LogicalPtr bind_insert(BindState&, const parser::ast::Insert&, WithItem* with = nullptr);
LogicalPtr bind_update(BindState&, const parser::ast::Update&, WithItem* with = nullptr);
LogicalPtr bind_delete(BindState&, const parser::ast::Delete&, WithItem* with = nullptr);
LogicalPtr bind_merge(BindState&, const parser::ast::Merge&);

}  // namespace redquel::planner
