#pragma once

#include <vector>

#include "planner/bind/bind.h"

namespace redquel::planner {

/// Expressions of table definitions. `stored`: the text is the catalog's, not the client's, so errors carry no
/// position.

/// A DEFAULT in the column's type. 0A000 "cannot use column reference in DEFAULT expression" (and subqueries), 42804
/// "column "a" is of type integer but default expression is of type text", 42803 for aggregates.
sql::ExpressionPtr bind_default(const parser::ast::Expression&, const sql::TableDef&, const sql::ColumnDef&,
                                const sql::CatalogSnapshot&, const BindSettings&, bool stored = false);

/// A CHECK over one row of the table; `ids` are the row's columns, parallel to `table.columns`. 0A000 "cannot use
/// subquery in check constraint", 42804 "argument of CHECK must be type boolean, not type integer", 42703, 42803.
sql::ExpressionPtr bind_check(const parser::ast::Expression&, const sql::TableDef& table,
                              const std::vector<ColumnId>& ids, const sql::CatalogSnapshot&, const BindSettings&,
                              bool stored = false);

/// The ids of a row whose columns are known by where they stand: 0, 1, …
std::vector<ColumnId> positions_as_ids(const sql::TableDef& table);

/// Like bind_check(), for an expression of any type over a row of the table: ALTER TABLE … TYPE … USING, index expressions.
sql::ExpressionPtr bind_column_expression(const parser::ast::Expression&, const sql::TableDef& table,
                                          const std::vector<ColumnId>& ids, const sql::CatalogSnapshot&,
                                          const BindSettings&, bool stored = false);

/// GENERATED ALWAYS AS, in the column's type. 42P17 where it is not immutable or reads another generated column, 42804.
sql::ExpressionPtr bind_generation(const parser::ast::Expression&, const sql::TableDef& table, const sql::ColumnDef&,
                                   const std::vector<ColumnId>& ids, const sql::CatalogSnapshot&, const BindSettings&,
                                   bool stored = false);

/// Stored text was written under another search path: what its names mean must not depend on that of the session. They are looked for
/// in the schema of the object, then in public, then where the session looks, then anywhere.
BindSettings for_stored_text(BindSettings, const std::string& schema, const sql::CatalogSnapshot&);

}  // namespace redquel::planner
