#include "executor/redis/client.h"

#include "executor/redis/atomic_reads.h"
#include "executor/redis/redis_error.h"
#include "executor/redis/script.h"
#include "executor/redis/subscription.h"

namespace redquel::executor {

namespace {

/// Checks the replies of MULTI, the queued commands and EXEC; throws their error if there is no array of results.
void check_transaction(const Replies& replies) {
  const std::size_t last = replies.size() - 1;
  if (replies[last].is_array()) return;
  // A command that could not be queued says more than EXECABORT.
  replies.or_throw();
  throw unexpected_reply(replies.command(last), "an array");
}

CommandBatch transaction_of(const CommandBatch& batch) {
  CommandBatch transaction;
  transaction.reserve(batch.bytes().size() + 64);
  transaction.add("MULTI").append_batch(batch).add("EXEC");
  return transaction;
}

RepliesPtr results_of(const RepliesPtr& replies, std::size_t commands, CommandNames names) {
  check_transaction(*replies);
  const std::size_t last = replies->size() - 1;
  if (replies->array(last).size() != commands) throw unexpected_reply("EXEC", "one reply per command");
  return Replies::unwrap_transaction(replies, std::move(names));
}

/// Redis whose memory is full queues no command in MULTI.
bool refused_to_queue(const Replies& replies) {
  for (std::size_t index = 0; index < replies.size(); ++index) {
    if (replies[index].is_error() && replies[index].text.starts_with("OOM")) return true;
  }
  return false;
}

/// The commands as one script instead of MULTI and EXEC.
asio::awaitable<RepliesPtr> execute_as_script(RedisClient& client, CommandBatch batch, ExecutionCounters* counters) {
  const std::vector<std::string_view> no_keys, arguments{batch.bytes()};
  RepliesPtr replies = co_await run_script(client, kAtomicReadsScript, no_keys, arguments, counters);
  if (replies->array(0).size() != batch.size()) throw unexpected_reply("EVALSHA_RO", "one reply per command");
  co_return Replies::unwrap_transaction(replies, batch.names());
}

class LateRequest final : public RedisRequest {
 public:
  LateRequest(RedisClient& client, CommandBatch batch, ExecutionCounters* counters)
      : client_(client), batch_(std::move(batch)), counters_(counters) {}

  asio::awaitable<RepliesPtr> replies() override { co_return co_await client_.execute(std::move(batch_), counters_); }

 private:
  RedisClient& client_;
  CommandBatch batch_;
  ExecutionCounters* counters_;
};

class AtomicRequest final : public RedisRequest {
 public:
  AtomicRequest(RedisClient& client, CommandBatch batch, ExecutionCounters* counters)
      : client_(client), transaction_(client.start(transaction_of(batch), counters)), batch_(std::move(batch)), counters_(counters) {}

  asio::awaitable<RepliesPtr> replies() override {
    const RepliesPtr replies = co_await transaction_->replies();
    if (refused_to_queue(*replies)) co_return co_await execute_as_script(client_, std::move(batch_), counters_);
    co_return results_of(replies, batch_.size(), batch_.names());
  }

 private:
  RedisClient& client_;
  std::unique_ptr<RedisRequest> transaction_;
  CommandBatch batch_;
  ExecutionCounters* counters_;
};

}  // namespace

std::unique_ptr<Subscription> RedisAccess::subscribe(std::string, std::function<void(std::string_view)>) {
  throw sql::not_supported("LISTEN without a connection of its own to Redis");
}

asio::awaitable<RepliesPtr> RedisClient::execute_atomic(CommandBatch batch, ExecutionCounters* counters) {
  if (batch.size() < 2) co_return co_await execute(std::move(batch), counters);
  CommandBatch transaction = transaction_of(batch);
  const RepliesPtr replies = co_await execute(std::move(transaction), counters);
  if (refused_to_queue(*replies)) co_return co_await execute_as_script(*this, std::move(batch), counters);
  co_return results_of(replies, batch.size(), batch.names());
}

std::unique_ptr<RedisRequest> RedisClient::start(CommandBatch batch, ExecutionCounters* counters) {
  return std::make_unique<LateRequest>(*this, std::move(batch), counters);
}

std::unique_ptr<RedisRequest> RedisClient::start_atomic(CommandBatch batch, ExecutionCounters* counters) {
  if (batch.size() < 2) return start(std::move(batch), counters);
  return std::make_unique<AtomicRequest>(*this, std::move(batch), counters);
}

}  // namespace redquel::executor
