#pragma once

#include "executor/context/execution_context.h"
#include "executor/redis/redis_user.h"
#include "sql/catalog/mapping.h"

namespace redquel::executor {

/// The logical database where a mapped table's keys are.
int database_of(const sql::Mapping& mapping, const ExecutionContext& context);

/// Returns true if scripts run at a mapped table's keys. They do not if redquel only looks, or in a cluster, where the keys have many slots.
bool may_run_mapped_scripts(ExecutionContext& context);

/// Returns the Redis user as whom the run reads and writes the table; null: redquel's own login (roles/role_access.h).
asio::awaitable<RedisUserPtr> redis_user_of(const sql::TableDef& table, ExecutionContext& context);
/// Returns the way to the table's keys for short commands. It is valid as long as the context.
asio::awaitable<RedisClient*> client_of(const sql::TableDef& table, ExecutionContext& context);

// Like ExecutionContext::ask_unchecked, ask_bulk and ask_script, as the table's Redis user in its database. Replies from another database
// or for another user carry no catalog version: before the first of them the run checks that its plan is still valid.
asio::awaitable<RepliesPtr> ask_mapped(const sql::TableDef& table, CommandBatch batch, bool atomic, ExecutionContext& context,
                                       ExecutionCounters* counters);
asio::awaitable<RepliesPtr> ask_mapped_bulk(const sql::TableDef& table, CommandBatch batch, ExecutionContext& context, ExecutionCounters* counters);
asio::awaitable<RepliesPtr> ask_mapped_script(const sql::TableDef& table, const Script& script, CommandBatch batch, ExecutionContext& context,
                                              ExecutionCounters* counters);

}  // namespace redquel::executor
