#include "executor/redis/client.h"

#include "executor/redis/redis_error.h"

namespace redquel::executor {

namespace {

/// Of MULTI, the queued commands and EXEC: the error to report, if it did not come to an array of results.
void check_transaction(const Replies& replies) {
  const std::size_t last = replies.size() - 1;
  if (replies[last].is_array()) return;
  // A command that could not be queued says more than EXECABORT.
  replies.or_throw();
  throw unexpected_reply(replies.command(last), "an array");
}

}  // namespace

asio::awaitable<RepliesPtr> RedisClient::execute_atomic(CommandBatch batch, ExecutionCounters* counters) {
  if (batch.size() < 2) co_return co_await execute(std::move(batch), counters);
  CommandBatch transaction;
  transaction.reserve(batch.bytes().size() + 64);
  transaction.add("MULTI").append_batch(batch).add("EXEC");
  RepliesPtr replies = co_await execute(std::move(transaction), counters);
  check_transaction(*replies);
  const std::size_t last = replies->size() - 1;
  if (replies->array(last).size() != batch.size()) throw unexpected_reply("EXEC", "one reply per command");
  co_return Replies::unwrap_transaction(replies, batch.names());
}

}  // namespace redquel::executor
