#pragma once

#include <boost/asio/awaitable.hpp>
#include <set>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/ddl_context.h"
#include "executor/ddl/object_lookup.h"

namespace redquel::executor {

// The states of declared structures of foreign tables: queries use those in state `ready`. All of this happens after the definitions are
// committed.

struct StructureContext {
  DdlContext& ddl;
  RedisAccess& access;  // to the logical databases of the rows
  int database;         // the session's logical one
};

/// After CREATE INDEX, ALTER INDEX and ALTER FOREIGN TABLE: compares the structures of the table that are not believed yet with its rows. Those that
/// hold every row are believed from now on; one that redquel maintains and that has no key yet is filled. For each of the others the
/// session gets a warning. REINDEX makes the structures what the rows say, also those that an application maintains: 23505, XX001, 40001. Other statements: nothing.
asio::awaitable<void> settle_structures(StructureContext context, const parser::ast::Statement& statement);
/// Compares the structures of the foreign tables that a transaction has changed.
asio::awaitable<void> settle_structures(StructureContext context, std::set<sql::Oid> tables);

}  // namespace redquel::executor
