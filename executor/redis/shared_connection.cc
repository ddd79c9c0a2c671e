#include "executor/redis/shared_connection.h"

#include "executor/redis/connection_core.h"

namespace redquel::executor {

SharedConnection::SharedConnection(asio::any_io_executor executor, ConnectionOptions options)
    : core_(std::make_shared<Core>(std::move(executor), std::move(options))) {}

SharedConnection::~SharedConnection() { core_->stop(); }

asio::awaitable<RepliesPtr> SharedConnection::execute(CommandBatch batch, ExecutionCounters* counters) {
  if (batch.empty()) co_return std::make_shared<Replies>();
  const std::shared_ptr<Core> core = core_;
  const std::size_t commands = batch.size();
  const std::size_t bytes_sent = batch.bytes().size();
  const auto pending = std::make_shared<PendingBatch>(std::move(batch));
  core->enqueue(pending);
  co_await pending->wait();
  if (pending->error) throw sql::SqlError(*pending->error);
  if (counters != nullptr) {
    ++counters->round_trips;
    counters->commands += commands;
    counters->bytes_sent += bytes_sent;
    counters->bytes_received += pending->replies->bytes();
  }
  co_return pending->replies;
}

asio::awaitable<void> SharedConnection::ready() {
  CommandBatch batch;
  batch.add("PING");
  const RepliesPtr replies = co_await execute(std::move(batch));
  replies->or_throw();
}

std::uint64_t SharedConnection::generation() const { return core_->generation(); }
const ServerInfo& SharedConnection::server() const { return core_->server(); }
const ConnectionStatistics& SharedConnection::statistics() const { return core_->statistics(); }
void SharedConnection::stop() { core_->stop(); }

}  // namespace redquel::executor
