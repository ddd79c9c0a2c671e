#pragma once

#include <boost/asio/awaitable.hpp>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/ddl_context.h"

namespace redquel::executor {

/// Fills indexes that were committed as `building` with the rows of before, page by page: every write of a row keeps them already.
/// Then makes them ready. Throws SqlError 23505 `could not create unique index "x"`, and leaves them building: the caller takes
/// them back. While it runs, `redquel:building:<index oid>` says so; without it the index counts as abandoned.
asio::awaitable<void> build_indexes(DdlContext& context, sql::Oid table, std::vector<sql::Oid> indexes);

/// Drops indexes (by oid) and their structures; those that are gone already do not matter.
asio::awaitable<void> drop_indexes(DdlContext& context, sql::Oid table, std::vector<sql::Oid> indexes);

/// Takes back a definition that was committed before its indexes could not be built, or its rows did not fulfil a constraint. `before`: the table
/// as it was; columns that have come since keep their fields.
asio::awaitable<void> restore_definition(DdlContext& context, std::shared_ptr<const sql::TableDef> before);

/// Structures of dropped indexes that a new index would keep again, but whose old keys are still being deleted, must be gone first.
asio::awaitable<void> finish_removals_of(RedisClient& client, const std::vector<Removal>& pending, std::shared_ptr<const sql::TableDef> table);

}  // namespace redquel::executor
