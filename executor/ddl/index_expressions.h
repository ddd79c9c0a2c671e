#pragma once

#include <string>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// An expression of CREATE INDEX as the catalog keeps it.
struct IndexExpression {
  std::string text;
  sql::Type type;
  std::string name;  // of the index's column
};
/// Throws what planner::bind_new_index_expression throws, and 0A000 where it needs functions or types that users have made.
IndexExpression read_index_expression(const CatalogDraft& draft, const sql::TableDef& table, const parser::ast::Expression& written,
                                      bool predicate);
/// The column that stands in parentheses, `((a))`; nullptr: a real expression.
const sql::ColumnDef* bare_column(const sql::TableDef& table, const parser::ast::Expression& written);

/// Gives the table the computed columns that the index's structures are made of: one for each part of a partial index,
/// and for each expression. `names`: of the parts, and of the structures of an index without a name. Those of a
/// remembered index have a type only, and are NULL in every row.
void add_computed_columns(sql::TableDef& table, sql::IndexDef& index, const std::vector<std::string>& names);

/// Binds the expressions and the predicate of an index again, after a column of the table got another type. `before`:
/// the table with the previous type. Returns true if an expression has another type now. Throws what binding them
/// throws, without positions.
bool rebind_computed_columns(const CatalogDraft& draft, const sql::TableDef& before, sql::TableDef& table,
                             sql::IndexDef& index);

/// Every column of the table that the index depends on.
std::vector<std::int16_t> index_columns(const sql::TableDef& table, const sql::IndexDef& index);

}  // namespace redquel::executor
