#pragma once

#include <boost/asio/awaitable.hpp>
#include <vector>

#include "executor/catalog/ddl_context.h"
#include "executor/ddl/row_conversion.h"
#include "executor/storage/row_buffer.h"
#include "sql/error.h"

namespace redquel::executor {

/// Writes the rows of `before`, as the converter makes them, to the new place of `after`, which is not visible yet, in bounded pieces.
/// `changes`: the session's transaction's changes to them; null: none. No write is in flight when this returns or throws. Throws
/// conversion errors, 23505, and 40001 if another owner has the place.
asio::awaitable<void> copy_rows(DdlContext& context, TablePtr before, TablePtr after, RowConverter& converter,
                                std::vector<TableChangesPtr> changes = {});

/// A key that two rows share is told as of an index that cannot be built; other errors as they are.
sql::SqlError as_build_error(const sql::SqlError& error, const sql::TableDef& table);

/// A page of rows of Redis without those that the transaction has changed.
sql::Batch unchanged_rows(const sql::Batch& page, const sql::TableDef& table, const TableChanges& changes);
/// The table's columns of some rows of the transaction.
sql::Batch page_of_changed(const sql::TableDef& table, const std::vector<RowValues>& rows);

}  // namespace redquel::executor
