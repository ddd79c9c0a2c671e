#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string_view>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/ddl_context.h"
#include "executor/ddl/table_rewrite.h"

namespace redquel::executor {

/// In a transaction: the table's rows, as the transaction sees them, are written to a place that it claims for itself, in the form of
/// the changed definition and with all index entries; from now on that is where the transaction finds the table, and its commit
/// makes it so for everybody. The old place stays as it is until then, so ROLLBACK and ROLLBACK TO have nothing to undo. The
/// caller has locked the table against writers (DdlContext::lock_table). `command` names the statement in 55006, of a table whose deferred
/// foreign keys wait to be checked. Throws 23502, 23505, 23514 for rows that do not fit, 40001 where others' definitions are in the way.
asio::awaitable<void> rewrite_in_transaction(DdlContext& context, sql::Oid table, std::string_view command, const ChangeDefinition& change);

/// Before a commit of definitions: of the tables of which the transaction has changed more rows than one script writes, all rows go to
/// new places, so that the commit itself is short. 54000 where deferred foreign keys of such a table wait for the commit.
asio::awaitable<void> move_large_changes(DdlContext& context, std::size_t script_rows);

}  // namespace redquel::executor
