#pragma once

#include "executor/context/execution_context.h"
#include "sql/catalog/mapping.h"

namespace redquel::executor {

/// The logical database where a mapped table's keys are.
int database_of(const sql::Mapping& mapping, const ExecutionContext& context);
/// The way there for short commands.
RedisClient& client_of(const sql::Mapping& mapping, ExecutionContext& context);

// As ExecutionContext::ask_unchecked, ask_bulk and ask_script, in that database. Replies from another one than the session's tell nothing
// of the catalog: before the first of them it is asked whether the plan still is of now.
asio::awaitable<RepliesPtr> ask_mapped(const sql::Mapping& mapping, CommandBatch batch, bool atomic, ExecutionContext& context,
                                       ExecutionCounters* counters);
asio::awaitable<RepliesPtr> ask_mapped_bulk(const sql::Mapping& mapping, CommandBatch batch, ExecutionContext& context, ExecutionCounters* counters);
asio::awaitable<RepliesPtr> ask_mapped_script(const sql::Mapping& mapping, const Script& script, CommandBatch batch, ExecutionContext& context,
                                              ExecutionCounters* counters);

}  // namespace redquel::executor
