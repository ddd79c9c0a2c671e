#include "executor/tables/mapped_access.h"

#include <algorithm>

#include "executor/roles/role_access.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

namespace {

bool is_elsewhere(const sql::Mapping& mapping, const ExecutionContext& context) {
  return database_of(mapping, context) != context.database && context.access != nullptr;
}

bool is_unknown_script(const Reply& reply) { return reply.is_error() && reply.text.starts_with("NOSCRIPT"); }

/// Runs a read-only script that redquel's own login loads: the user may have no right to.
asio::awaitable<RepliesPtr> run_as(RedisClient& user, const Script& script, CommandBatch batch, ExecutionContext& context, ExecutionCounters* counters) {
  CommandBatch first = batch;
  RepliesPtr replies = co_await user.execute(std::move(first), counters);
  if (std::ranges::none_of(replies->all(), is_unknown_script)) co_return replies;
  CommandBatch load;
  load.add("SCRIPT", "LOAD", script.text());
  const RepliesPtr loaded = co_await context.redis().execute(std::move(load), counters);
  loaded->or_throw();
  co_return co_await user.execute(std::move(batch), counters);
}

}  // namespace

int database_of(const sql::Mapping& mapping, const ExecutionContext& context) { return mapping.database.value_or(context.database); }

bool may_run_mapped_scripts(ExecutionContext& context) { return context.redis().own_keyspace() == nullptr && !sql::uses_cluster(); }

asio::awaitable<RedisUserPtr> redis_user_of(const sql::TableDef& table, ExecutionContext& context) {
  RoleAccess* const access = role_access(context.access);
  if (access == nullptr) co_return nullptr;
  if (access->lacks_mapping(table)) {
    // Another process may have made the mapping: without a look at Redis this one would not learn of it.
    CommandBatch batch;
    batch.add("GET", sql::home_key(sql::kVersionKey));
    const RepliesPtr replies = co_await context.redis().execute(std::move(batch));
    if (replies->text(0).value_or("") != context.catalog()->version) throw StaleCatalog{};
  }
  co_return co_await access->user_of(table);
}

asio::awaitable<RedisClient*> client_of(const sql::TableDef& table, ExecutionContext& context) {
  const int database = database_of(table.mapping(), context);
  if (const RedisUserPtr user = co_await redis_user_of(table, context)) co_return &user->shared(database);
  co_return is_elsewhere(table.mapping(), context) ? &context.access->shared(database) : &context.redis();
}

asio::awaitable<RepliesPtr> ask_mapped(const sql::TableDef& table, CommandBatch batch, bool atomic, ExecutionContext& context,
                                       ExecutionCounters* counters) {
  const RedisUserPtr user = co_await redis_user_of(table, context);
  if (!user && !is_elsewhere(table.mapping(), context)) co_return co_await context.ask_unchecked(std::move(batch), atomic, counters);
  co_await context.confirm_catalog(counters);
  RedisClient* client = co_await client_of(table, context);
  if (atomic) co_return co_await client->execute_atomic(std::move(batch), counters);
  co_return co_await client->execute(std::move(batch), counters);
}

asio::awaitable<RepliesPtr> ask_mapped_bulk(const sql::TableDef& table, CommandBatch batch, ExecutionContext& context, ExecutionCounters* counters) {
  const RedisUserPtr user = co_await redis_user_of(table, context);
  if (!user && !is_elsewhere(table.mapping(), context)) co_return co_await context.ask_bulk(std::move(batch), counters);
  co_await context.confirm_catalog(counters);
  const int database = database_of(table.mapping(), context);
  RedisClient& client = user ? user->bulk(database) : context.access->bulk(database);
  RepliesPtr replies = co_await client.execute(std::move(batch), counters);
  replies->or_throw();
  co_return replies;
}

asio::awaitable<RepliesPtr> ask_mapped_script(const sql::TableDef& table, const Script& script, CommandBatch batch, ExecutionContext& context,
                                              ExecutionCounters* counters) {
  const RedisUserPtr user = co_await redis_user_of(table, context);
  const bool elsewhere = user != nullptr || is_elsewhere(table.mapping(), context);
  if (elsewhere) co_await context.confirm_catalog(counters);
  RedisClient* client = co_await client_of(table, context);
  if (user) co_return co_await run_as(*client, script, std::move(batch), context, counters);
  std::vector<const Script*> scripts{&script};
  RepliesPtr replies = co_await run_scripts(*client, std::move(scripts), std::move(batch), counters);
  if (!elsewhere) co_await context.check_version(*replies);
  co_return replies;
}

}  // namespace redquel::executor
