#include "executor/tables/mapped_access.h"

namespace redquel::executor {

namespace {

bool is_elsewhere(const sql::Mapping& mapping, const ExecutionContext& context) {
  return database_of(mapping, context) != context.database && context.access != nullptr;
}

}  // namespace

int database_of(const sql::Mapping& mapping, const ExecutionContext& context) { return mapping.database.value_or(context.database); }

RedisClient& client_of(const sql::Mapping& mapping, ExecutionContext& context) {
  return is_elsewhere(mapping, context) ? context.access->shared(*mapping.database) : context.redis();
}

asio::awaitable<RepliesPtr> ask_mapped(const sql::Mapping& mapping, CommandBatch batch, bool atomic, ExecutionContext& context,
                                       ExecutionCounters* counters) {
  if (!is_elsewhere(mapping, context)) co_return co_await context.ask_unchecked(std::move(batch), atomic, counters);
  co_await context.confirm_catalog(counters);
  RedisClient& client = client_of(mapping, context);
  if (atomic) co_return co_await client.execute_atomic(std::move(batch), counters);
  co_return co_await client.execute(std::move(batch), counters);
}

asio::awaitable<RepliesPtr> ask_mapped_bulk(const sql::Mapping& mapping, CommandBatch batch, ExecutionContext& context, ExecutionCounters* counters) {
  if (!is_elsewhere(mapping, context)) co_return co_await context.ask_bulk(std::move(batch), counters);
  co_await context.confirm_catalog(counters);
  RepliesPtr replies = co_await context.access->bulk(*mapping.database).execute(std::move(batch), counters);
  replies->or_throw();
  co_return replies;
}

asio::awaitable<RepliesPtr> ask_mapped_script(const sql::Mapping& mapping, const Script& script, CommandBatch batch, ExecutionContext& context,
                                              ExecutionCounters* counters) {
  const bool elsewhere = is_elsewhere(mapping, context);
  if (elsewhere) co_await context.confirm_catalog(counters);
  std::vector<const Script*> scripts{&script};
  RepliesPtr replies = co_await run_scripts(client_of(mapping, context), std::move(scripts), std::move(batch), counters);
  if (!elsewhere) co_await context.check_version(*replies);
  co_return replies;
}

}  // namespace redquel::executor
