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

void StatementSnapshot::begin(std::vector<TablePtr> tables, bool is_pieced, bool in_one_place) {
  commits_ = SeenCommits(tables);
  looks_once_ = in_one_place;
  is_late_ = false;
  keys_.clear();
  if (spans_buckets() && !is_pieced) return;
  for (const TablePtr& table : tables) keys_.push_back(sql::TableKeys(*table).changes());
}

void StatementSnapshot::send(RedisClient& redis, asio::any_io_executor executor, ExecutionCounters* counters) {
  sent_ = {};
  session_counters_ = counters;
  if (spans_buckets()) commits_.begin(redis, std::move(executor), looks_once_);
  if (keys_.empty()) return;
  CommandBatch batch;
  batch.add("MGET", keys_);
  request_ = redis.start(std::move(batch), spans_buckets() ? &sent_ : counters);
}

asio::awaitable<void> StatementSnapshot::take(ExecutionContext& context) {
  if (request_) {
    const std::unique_ptr<RedisRequest> request = std::move(request_);
    const RepliesPtr replies = co_await context.replies_of(*request);
    counters_ = texts_of(*replies);
    // Each node gets the commands before the reads. If a node did not answer them at once, reads may have been answered before.
    is_late_ = spans_buckets() && sent_.round_trips > 1;
    if (spans_buckets() && session_counters_ != nullptr) *session_counters_ += sent_;
  }
  if (spans_buckets()) co_await commits_.take_numbers();
}

asio::awaitable<bool> StatementSnapshot::has_changed(ExecutionContext& context) {
  co_await take(context);
  if (keys_.empty()) co_return false;
  CommandBatch look;
  look.add("MGET", keys_);
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
