#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/ddl/ddl.h"
#include "executor/storage/table_walk.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// Returns true if the session's open transaction has changed rows of the table.
bool has_own_changes(const SessionState& session, const std::shared_ptr<const sql::TableDef>& table);
/// Returns the state of the table for the session: it is not empty if the own transaction has changed its rows.
asio::awaitable<TableState> own_table_state(DdlContext& context, std::shared_ptr<const sql::TableDef> table);

/// Calls `examine` with all rows of the table in pages, those of the own transaction included. The columns are the table's.
asio::awaitable<void> examine_rows(DdlContext& context, std::shared_ptr<const sql::TableDef> table, std::function<void(const sql::Batch&)> examine);

/// Walks over all rows, read as `table` (which may not be committed yet) defines them. Throws 23502 `column "x" of relation "t" contains
/// null values` and 23514 `check constraint "c" of relation "t" is violated by some row`.
asio::awaitable<void> validate_rows(DdlContext& context, sql::CatalogPtr catalog, sql::TableDef table,
                                    std::vector<std::int16_t> not_null, std::vector<std::string> checks);

/// Stores the key's columns as fields of every row that is there. Rows that come later have them by TableDef::stores_key, which must be
/// committed.
asio::awaitable<void> store_keys(DdlContext& context, std::shared_ptr<const sql::TableDef> table);

}  // namespace redquel::executor
