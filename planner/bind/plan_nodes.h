#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "planner/bind/query_level.h"
#include "planner/tree/logical_plan.h"
#include "sql/functions/resolve.h"

namespace redquel::sql {
struct SystemTable;
}

namespace redquel::planner {

/// One row without columns: SELECT without FROM.
LogicalPtr one_row();
/// All live columns of the table, then, where they are asked for, the hidden row key (number 0) and the oid of the partition (kTableOidColumn).
LogicalPtr scan_table(BindState&, std::shared_ptr<const sql::TableDef>, const std::string& alias,
                      bool hidden_key = false, bool table_oid = false);
/// The columns of the input, and no rows.
LogicalPtr no_rows_of(const LogicalPtr& input);
LogicalPtr scan_system_table(BindState&, const sql::SystemTable&);
LogicalPtr scan_transition_table(BindState&, const VariableScope::TransitionTable&);
/// The arguments are converted already and have no columns. `record`: the columns of a function that gives records.
LogicalPtr scan_function(BindState&, const sql::ResolvedTableFunction&, std::vector<sql::ExpressionPtr> arguments,
                         const std::string& alias, bool with_ordinality, std::vector<sql::ResultColumn> record = {});
/// Two function scans without ordinality as one whose functions run side by side.
LogicalPtr scan_beside(const LogicalPtr& first, const LogicalPtr& second);
/// One value as a function scan of one row.
LogicalPtr scan_value(BindState&, const sql::ExpressionPtr& value, const std::string& name);
/// Rows of equal length and types; columns get new ids.
LogicalPtr make_values(BindState&, std::vector<std::vector<sql::ExpressionPtr>> rows,
                       const std::vector<std::string>& names, const std::vector<sql::Type>& types);

struct OutputValue {
  sql::ExpressionPtr value;
  std::string name;
};
/// A column that is passed through keeps its id (the first time), everything else gets a new one.
LogicalPtr make_project(BindState&, LogicalPtr input, const std::vector<OutputValue>& outputs);
/// `input` with values of the expressions as further columns; returns the columns that hold them (existing ones where
/// an expression is just that column).
std::vector<ColumnId> add_columns(BindState&, LogicalPtr& input, const std::vector<sql::ExpressionPtr>& expressions);
/// Like make_column(), for several: each expression becomes a reference to its column.
void make_columns(BindState&, LogicalPtr& input, const std::vector<sql::ExpressionPtr*>& expressions);
LogicalPtr make_join(JoinKind kind, LogicalPtr left, LogicalPtr right, sql::ExpressionPtr condition);

sql::ExpressionPtr reference(const LogicalColumn&, std::optional<std::uint32_t> offset = {});
const LogicalColumn* find_column(const Logical&, ColumnId);
/// Returns true if the expression can be NULL, given the columns that it is computed from.
bool is_nullable(const sql::Expression&, const std::vector<LogicalColumn>& columns);
sql::ExpressionPtr with_offset(const sql::ExpressionPtr&, std::optional<std::uint32_t> offset);

/// A copy with every parameter slot replaced by what `change` makes of it.
sql::ExpressionPtr map_parameters(
    const sql::ExpressionPtr&,
    const std::function<sql::ExpressionPtr(const sql::ExpressionPtr&, std::uint32_t slot)>& change);
/// Columns of the expression become parameter slots of the frame.
sql::ExpressionPtr columns_to_slots(BindState&, CorrelationFrame&, const sql::ExpressionPtr&);
/// `rows` for the one row of `answers`, whose columns `rows` has as the slots of `frame`.
LogicalPtr with_answers(const LogicalPtr& answers, const CorrelationFrame& frame, const LogicalPtr& rows);
/// Returns true if an expression in the tree reads one of these slots.
bool reads_slots(const Logical&, const CorrelationFrame&);
bool reads_slots(const sql::Expression&, const CorrelationFrame&);
bool has_volatile(const Logical&);

}  // namespace redquel::planner
