#include "executor/statements/statement_snapshot.h"

#include <utility>

#include "sql/catalog/table_keys.h"

namespace redquel::executor {

namespace {

std::vector<std::string> texts_of(const Replies& replies) {
  std::vector<std::string> texts;
  if (replies.size() == 0) return texts;
  for (const Reply& reply : replies.array(0)) texts.emplace_back(reply.text);
  return texts;
}

}  // namespace

void StatementSnapshot::begin(std::vector<TablePtr> tables) {
  keys_.clear();
  for (const TablePtr& table : tables) keys_.push_back(sql::TableKeys(*table).changes());
  commits_ = SeenCommits(tables);
  is_late_ = false;
}

CommandBatch StatementSnapshot::commands() const {
  CommandBatch batch;
  if (!keys_.empty()) batch.add("MGET", keys_);
  if (spans_buckets()) commits_.append_numbers(batch);
  return batch;
}

void StatementSnapshot::send(RedisClient& redis, ExecutionCounters* counters) {
  sent_ = {};
  session_counters_ = counters;
  request_ = redis.start(commands(), spans_buckets() ? &sent_ : counters);
}

asio::awaitable<void> StatementSnapshot::take(ExecutionContext& context) {
  if (!request_) co_return;
  const std::unique_ptr<RedisRequest> request = std::move(request_);
  const RepliesPtr replies = co_await context.replies_of(*request);
  counters_ = texts_of(*replies);
  if (!spans_buckets()) co_return;
  commits_.take_numbers(*replies, 1);
  // Each node gets the commands before the reads. If a node did not answer them at once, reads may have been answered before.
  is_late_ = sent_.round_trips > 1;
  if (session_counters_ != nullptr) *session_counters_ += sent_;
}

asio::awaitable<bool> StatementSnapshot::has_changed(ExecutionContext& context) {
  co_await take(context);
  CommandBatch look = commands();
  const RepliesPtr replies = co_await context.ask(std::move(look), nullptr);
  co_return texts_of(*replies) != counters_;
}

asio::awaitable<bool> StatementSnapshot::is_torn(ExecutionContext& context) {
  if (!spans_buckets()) co_return false;
  co_await take(context);
  if (is_late_) co_return true;
  co_return co_await commits_.are_torn(context.redis());
}

}  // namespace redquel::executor
