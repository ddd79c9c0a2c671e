#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parser/ast.h"
#include "planner/bind/bind.h"
#include "planner/tree/logical_plan.h"
#include "sql/catalog/catalog.h"
#include "sql/expressions/expression.h"

namespace redquel::planner {

// Expressions of indexes. They are the same for every session, at any time: so they are bound without a catalog (functions in
// LANGUAGE sql and names of user-made types are unknown to them) and with default settings.

/// An expression of the table's definition over its columns; `ids` are parallel to `table.columns`. What is constant in it is folded.
/// Throws what binding it throws: 42703, 42883 …
sql::ExpressionPtr bind_indexed(std::string_view text, const sql::TableDef& table, const std::vector<ColumnId>& ids);
/// Those of `table.computed`, in its order.
std::vector<sql::ExpressionPtr> bind_computed(const sql::TableDef& table, const std::vector<ColumnId>& ids);

/// Binds an expression of CREATE INDEX: 0A000 for subqueries, 42803 for aggregates, 42P20 for window functions; 42P17 if it is not
/// immutable. `predicate`: WHERE, which must be boolean (42804).
sql::ExpressionPtr bind_new_index_expression(const parser::ast::Expression& written, const sql::TableDef& table,
                                             const sql::CatalogSnapshot& catalog, const BindSettings& settings, bool predicate);
/// Returns the name of such a column of an index in pg_attribute: the function's name, "expr".
std::string index_column_name(const parser::ast::Expression& written, const sql::CatalogSnapshot& catalog, const BindSettings& settings);
/// An element, or the WHERE (`predicate`), of ON CONFLICT, to be compared with those of indexes.
sql::ExpressionPtr bind_arbiter_expression(const parser::ast::Expression& written, const sql::TableDef& table,
                                           const std::vector<ColumnId>& ids, const sql::CatalogSnapshot& catalog,
                                           const BindSettings& settings, bool predicate);

}  // namespace redquel::planner
