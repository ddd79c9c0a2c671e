#include "executor/tables/source_operator.h"

namespace redquel::executor {

void SourceOperator::publish() {
  if (!counters_) return;
  planner::NodeRun& run = (*context_.statistics)[&node_];
  run.round_trips += own_counters_.round_trips;
  run.commands += own_counters_.commands;
  run.bytes_sent += own_counters_.bytes_sent;
  run.bytes_received += own_counters_.bytes_received;
}

asio::awaitable<sql::Batch> SourceOperator::fetch(std::vector<std::string> members) {
  context_.note_read(reader_.table());
  auto owned = std::make_shared<const std::vector<std::string>>(std::move(members));
  CommandBatch batch;
  for (const std::string& member : *owned) reader_.append_fetch(batch, member);
  RepliesPtr replies;
  if (owned->size() > 1) {
    replies = co_await context_.ask_atomic(std::move(batch), counters_);
  } else {
    replies = co_await context_.ask(std::move(batch), counters_);
  }
  for (std::size_t i = 0; i < owned->size(); ++i) reader_.add((*owned)[i], (*replies)[i].children());
  reader_.keep_alive(owned);
  reader_.keep_alive(replies);
  co_return take();
}

}  // namespace redquel::executor
