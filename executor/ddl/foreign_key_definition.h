#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/column_definition.h"
#include "executor/ddl/ddl.h"

namespace redquel::executor {

/// FOREIGN KEY put into the definition of a table that is in the draft already; the changed definition is the caller's to put back. Its
/// hidden index begins in the given state. Throws 42P01, 42703, 42704, 42710, 42830, 42804 …; returns what was added.
const sql::ForeignKeyDef& add_foreign_key(CatalogDraft& draft, sql::TableDef& table, const ForeignKeyDraft& key, sql::IndexState state);

/// Takes a foreign key and its hidden index out of the definition.
void erase_foreign_key(sql::TableDef& table, sql::Oid key);

/// Walks over all rows of the table; throws 23503 for one that refers to nothing. The foreign keys must be committed, or the transaction's,
/// which then has both tables for itself; rows of `table` that it has changed were checked when it did that.
asio::awaitable<void> validate_foreign_keys(DdlContext& context, sql::Oid table, std::vector<sql::Oid> keys);

}  // namespace redquel::executor
