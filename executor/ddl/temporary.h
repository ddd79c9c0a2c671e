#pragma once

#include <set>
#include <string>

#include "executor/ddl/ddl.h"
#include "executor/transaction/lock_wait.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// The schemas of one engine's sessions that have temporary tables: `pg_temp_<process>_<number>`. Their tables lie in Redis like all
/// others. A schema goes with its session; that of a killed process, whose lease has ended, goes when another session makes one.
class TemporarySchemas {
 public:
  /// `database`: the logical one. `lease_milliseconds`: how long the process may stand still before others drop its schemas.
  TemporarySchemas(RedisClient& redis, int database, std::size_t lease_milliseconds) : lease_(redis, database, lease_milliseconds) {}

  /// The session gets a schema, first in its search path, unless it has one. The schema itself is made with the first object in it.
  asio::awaitable<void> open(DdlContext& context);
  /// Drops what the session's schema holds. Outside of a transaction the schema goes, too: the session has none any more.
  asio::awaitable<void> close(DdlContext& context);

 private:
  asio::awaitable<void> drop_abandoned(DdlContext& context);

  LockLease lease_;  // of its own: it is never renounced while there are schemas
  std::set<std::string> live_;
};

/// The session's tables with ON COMMIT DROP go: a statement outside of a transaction has made one.
asio::awaitable<void> end_temporary(DdlContext& context);
/// Applies ON COMMIT to the session's tables, as part of the transaction that is about to commit. Emptied tables never had rows that other
/// transactions could see.
void apply_on_commit(const SessionState& session, const sql::CatalogSnapshot& catalog, Transaction& transaction);

/// Returns true if the statement creates a temporary relation.
bool makes_temporary(const parser::ast::Statement& statement);

}  // namespace redquel::executor
