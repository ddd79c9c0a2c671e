#include "executor/statements/statement_snapshot.h"

#include <utility>

#include "sql/catalog/table_keys.h"

namespace redquel::executor {

namespace {

std::vector<std::string> texts_of(const Reply& reply) {
  std::vector<std::string> texts;
  for (const Reply& element : reply.children()) texts.emplace_back(element.text);
  return texts;
}

}  // namespace

void StatementSnapshot::begin(std::vector<TablePtr> tables, bool is_pieced, bool in_one_place) {
  commits_ = SeenCommits(tables);
  looks_once_ = in_one_place;
  keys_.clear();
  if (spans_buckets() && !is_pieced) return;
  for (const TablePtr& table : tables) keys_.push_back(sql::TableKeys(*table).changes());
}

void StatementSnapshot::send(RedisClient& redis, asio::any_io_executor executor, ExecutionCounters* counters) {
  session_counters_ = counters;
  CommandBatch batch;
  if (!keys_.empty()) batch.add("MGET", keys_);
  if (spans_buckets()) commits_.begin(redis, std::move(executor), looks_once_, std::move(batch));
  else if (!batch.empty()) request_ = redis.start(std::move(batch), counters);
}

asio::awaitable<void> StatementSnapshot::take(ExecutionContext& context) {
  if (spans_buckets()) {
    co_await commits_.take_numbers();
    if (!keys_.empty()) counters_ = texts_of(commits_.reply_before(0));
  } else if (request_) {
    const std::unique_ptr<RedisRequest> request = std::move(request_);
    const RepliesPtr replies = co_await context.replies_of(*request);
    counters_ = texts_of((*replies)[0]);
  }
}

asio::awaitable<bool> StatementSnapshot::has_changed(ExecutionContext& context) {
  co_await take(context);
  if (keys_.empty()) co_return false;
  CommandBatch look;
  look.add("MGET", keys_);
  const RepliesPtr replies = co_await context.ask(std::move(look), nullptr);
  co_return texts_of((*replies)[0]) != counters_;
}

asio::awaitable<bool> StatementSnapshot::is_torn(ExecutionContext& context) {
  if (!spans_buckets()) co_return false;
  const bool is_torn = co_await commits_.are_torn(context.redis());
  if (session_counters_ != nullptr) *session_counters_ += commits_.counters();
  co_return is_torn;
}

}  // namespace redquel::executor
