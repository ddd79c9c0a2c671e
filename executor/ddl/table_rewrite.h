#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"
#include "planner/bind/bind.h"
#include "sql/expressions/expression.h"

namespace redquel::executor {

/// ALTER TABLE of a table whose rows must be written anew: another key, another type, values for a new column. The rows are copied
/// under another key prefix, in bounded pieces, while the old ones stay readable; the definition changes in one step when they are
/// all there and nobody has written meanwhile. False: somebody has, or has changed the definition; nothing has happened. Throws
/// 23502, 23505, 23514 for rows that do not fit, and what converting them throws.
asio::awaitable<bool> try_rewrite_table(DdlContext& context, const parser::ast::AlterTable& statement, TablePtr before);

struct ColumnRewrite;
/// What ALTER … TYPE makes of a column: over a row of the table as it was, in the type of `column`. 42804 where no assignment cast
/// leads there, and what binding USING throws.
sql::ExpressionPtr converted_column(const sql::TableDef& before, const sql::ColumnDef& column, const ColumnRewrite& rewrite,
                                    const sql::CatalogSnapshot& catalog, const planner::BindSettings& settings);

}  // namespace redquel::executor
