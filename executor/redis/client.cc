#include "executor/redis/client.h"

#include "executor/redis/redis_error.h"
#include "executor/redis/subscription.h"

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
  AtomicRequest(std::unique_ptr<RedisRequest> transaction, const CommandBatch& batch)
      : transaction_(std::move(transaction)), commands_(batch.size()), names_(batch.names()) {}

  asio::awaitable<RepliesPtr> replies() override {
    const RepliesPtr replies = co_await transaction_->replies();
    co_return results_of(replies, commands_, std::move(names_));
  }

 private:
  std::unique_ptr<RedisRequest> transaction_;
  std::size_t commands_;
  CommandNames names_;
};

}  // namespace

std::unique_ptr<Subscription> RedisAccess::subscribe(std::string, std::function<void(std::string_view)>) {
  throw sql::not_supported("LISTEN without a connection of its own to Redis");
}

asio::awaitable<RepliesPtr> RedisClient::execute_atomic(CommandBatch batch, ExecutionCounters* counters) {
  if (batch.size() < 2) co_return co_await execute(std::move(batch), counters);
  CommandBatch transaction = transaction_of(batch);
  const RepliesPtr replies = co_await execute(std::move(transaction), counters);
  co_return results_of(replies, batch.size(), batch.names());
}

std::unique_ptr<RedisRequest> RedisClient::start(CommandBatch batch, ExecutionCounters* counters) {
  return std::make_unique<LateRequest>(*this, std::move(batch), counters);
}

std::unique_ptr<RedisRequest> RedisClient::start_atomic(CommandBatch batch, ExecutionCounters* counters) {
  if (batch.size() < 2) return start(std::move(batch), counters);
  return std::make_unique<AtomicRequest>(start(transaction_of(batch), counters), batch);
}

}  // namespace redquel::executor
