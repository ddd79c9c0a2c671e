#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"

namespace redquel::executor {

/// ALTER TABLE of a table whose rows must be written anew: another key, another type, values for a new column. The rows are copied
/// under another key prefix, in bounded pieces, while the old ones stay readable; the definition changes in one step when they are
/// all there and nobody has written meanwhile. False: somebody has, or has changed the definition; nothing has happened. Throws
/// 23502, 23505, 23514 for rows that do not fit, and what converting them throws.
asio::awaitable<bool> try_rewrite_table(DdlContext& context, const parser::ast::AlterTable& statement, TablePtr before);

/// The definition of a table whose rows are all written anew under the prefix.
sql::TableDef relocated(sql::TableDef table, const std::string& prefix);
/// The sequences of the table's columns keep their counters under the new prefix.
void move_sequences(CatalogDraft& draft, const sql::TableDef& before, const std::string& prefix);

}  // namespace redquel::executor
