#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "planner/bind/query_level.h"

namespace redquel::planner {

enum class WriteOperation : std::uint8_t { kInsert, kUpdate, kDelete };

/// The target of INSERT, UPDATE or DELETE: a table, or the table under an automatically updatable view. A view whose triggers INSTEAD OF take the
/// rows stands for a table (sql/catalog/view_rows.h).
struct WriteTarget {
  struct Column {
    std::string name;
    sql::ExpressionPtr value;  // over `row`
    std::int16_t number = 0;   // of the table; 0: it cannot be written
    bool hidden = false;       // written only where it is named
    std::string view = {};     // where `number` is 0: the view that computes it,
    bool is_system = false;    // or shows a system column
  };
  /// A condition that new rows must fulfil: WITH CHECK OPTION.
  struct Check {
    std::string view;
    sql::ExpressionPtr condition;  // over `row`
  };
  /// The WHERE of a view: it decides which rows are visible through the view.
  struct Visibility {
    std::string view;
    sql::ExpressionPtr condition;             // over `row`
    std::vector<PendingSubquery> subqueries;  // of the condition; over `row`
  };

  WriteOperation operation = WriteOperation::kInsert;
  std::shared_ptr<const sql::TableDef> table;
  std::shared_ptr<const sql::ViewDef> view;  // null: the table itself was named
  LogicalPtr plan;                           // the rows that can be changed
  LogicalPtr scan;                           // in `plan`: all rows of the table
  std::optional<sql::Oid> checked_as;        // the role whose rights and policies count for the table; none: that of the statement
  std::vector<LogicalColumn> row;            // in `plan`: the table's live columns in order, then the hidden key where there is one
  std::vector<Column> columns;               // by which statements call them
  std::vector<Check> checks;
  std::vector<Visibility> visibility;        // of INSERT, the innermost view first
  Requirement* requirement = nullptr;        // of the relation that is named

  /// Places in `columns` in the order of the names, once they are asked for: a statement may name all columns of a wide
  /// table.
  mutable std::vector<std::uint32_t> by_name = {};

  /// The first column of the name; null: there is none.
  const Column* find(std::string_view column) const;
  /// The number that the relation that is named gives the column.
  std::int16_t attribute_of(std::string_view column) const;
  const std::string& name() const { return view ? view->name : table->name; }
};

/// The rights on the target that the operation needs.
sql::Rights rights_of(WriteOperation operation);

/// 42P01; 42501 for system tables; 55000 "cannot insert into view "v"" with the reason.
WriteTarget bind_write_target(BindState&, const parser::ast::TableRef&, WriteOperation);
/// The table's column under that name. 42703 "column "x" of relation "t" does not exist"; 0A000 "cannot update column "x" of view "v"".
const sql::ColumnDef& find_target_column(const BindState&, const WriteTarget&, const parser::ast::AssignmentTarget&);
/// The target's names for a statement, over `row` (as the target calls it) or over another row of the table.
RelationPtr target_relation(const WriteTarget&, const std::optional<parser::ast::Alias>&, const std::vector<LogicalColumn>& row);
/// The target's checks over a new row of the table.
void append_view_checks(const WriteTarget&, const std::vector<LogicalColumn>& new_row, std::vector<BoundCheck>& checks);
/// Adds the checks that a row that ON CONFLICT has met is visible through the target's views. `met`: the row, in `source`. Subqueries of the
/// views' conditions are placed above the source.
void append_visibility_checks(BindState&, const WriteTarget&, const std::vector<LogicalColumn>& met, LogicalPtr& source,
                              std::vector<PolicyCheck>& checks);

/// Sets the view's base relation and its writable columns. Returns the detail of the error why rows cannot be inserted and updated through
/// it; empty: they can.
std::string set_updatable(sql::ViewDef& view, const sql::CatalogSnapshot& catalog);

}  // namespace redquel::planner
