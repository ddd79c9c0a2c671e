#include "executor/redis/shared_connection.h"

#include "executor/redis/connection_core.h"

namespace redquel::executor {

ConnectionStatistics& ConnectionStatistics::operator+=(const ConnectionStatistics& other) {
  connects += other.connects;
  turns += other.turns;
  batches += other.batches;
  commands += other.commands;
  bytes_sent += other.bytes_sent;
  bytes_received += other.bytes_received;
  held_writes += other.held_writes;
  return *this;
}

SharedConnection::SharedConnection(asio::any_io_executor executor, ConnectionOptions options) {
  if (!options.unreplicated) options.unreplicated = std::make_shared<UnreplicatedCommits>();
  core_ = std::make_shared<Core>(std::move(executor), std::move(options));
}

SharedConnection::~SharedConnection() { stop(); }

namespace {

class PendingRequest final : public RedisRequest {
 public:
  PendingRequest(std::shared_ptr<PendingBatch> pending, ExecutionCounters* counters)
      : pending_(std::move(pending)),
        commands_(pending_->batch.size()),
        bytes_sent_(pending_->batch.bytes().size()),
        counters_(counters) {}
  ~PendingRequest() override { pending_->abandon(); }
  PendingRequest(const PendingRequest&) = delete;
  PendingRequest& operator=(const PendingRequest&) = delete;

  asio::awaitable<RepliesPtr> replies() override {
    if (!pending_->is_finished()) co_await pending_->wait();
    if (pending_->error) throw sql::SqlError(*pending_->error);
    if (counters_ != nullptr) {
      ++counters_->round_trips;
      counters_->commands += commands_;
      counters_->bytes_sent += bytes_sent_;
      counters_->bytes_received += pending_->replies->bytes();
    }
    co_return pending_->replies;
  }

 private:
  std::shared_ptr<PendingBatch> pending_;
  std::size_t commands_, bytes_sent_;
  ExecutionCounters* counters_;
};

}  // namespace

asio::awaitable<RepliesPtr> SharedConnection::execute(CommandBatch batch, ExecutionCounters* counters) {
  if (batch.empty()) co_return std::make_shared<Replies>();
  const std::shared_ptr<Core> core = core_;  // a caller may outlive the connection
  const std::unique_ptr<RedisRequest> request = start(std::move(batch), counters);
  co_return co_await request->replies();
}

std::unique_ptr<RedisRequest> SharedConnection::start(CommandBatch batch, ExecutionCounters* counters) {
  if (batch.empty()) return RedisClient::start(std::move(batch), counters);
  const auto pending = std::make_shared<PendingBatch>(std::move(batch));
  pending->expect_waiter();
  auto request = std::make_unique<PendingRequest>(pending, counters);
  core_for(pending->batch).enqueue(pending);
  return request;
}

std::shared_ptr<PendingBatch> SharedConnection::submit(CommandBatch batch) {
  auto pending = std::make_shared<PendingBatch>(std::move(batch));
  pending->expect_waiter();
  core_for(pending->batch).enqueue(pending);
  return pending;
}

std::shared_ptr<PendingBatch> SharedConnection::submit_alone(CommandBatch batch) {
  std::shared_ptr<PendingBatch> pending = submit(std::move(batch));
  core_->flush_if_idle();
  return pending;
}

asio::awaitable<void> SharedConnection::ready() {
  CommandBatch batch;
  batch.add("PING");
  const RepliesPtr replies = co_await execute(std::move(batch));
  replies->or_throw();
}

std::uint64_t SharedConnection::generation() const { return core_->generation(); }
UnreplicatedCommits* SharedConnection::unreplicated() { return core_->options().unreplicated.get(); }
const ServerInfo& SharedConnection::server() const { return core_->server(); }
ConnectionStatistics SharedConnection::statistics() const { return core_->statistics(); }
void SharedConnection::stop() {
  core_->stop();
  if (commits_) commits_->stop();
}
void SharedConnection::stop(const sql::SqlError& error) {
  core_->stop(error);
  if (commits_) commits_->stop(error);
}

void SharedConnection::set_version_key(std::string key) {
  core_->set_version_key(key);
  if (commits_) commits_->set_version_key(key);
  version_key_ = std::move(key);
}

SharedConnection::Core& SharedConnection::core_for(const CommandBatch& batch) {
  if (!batch.awaits_replicas()) return *core_;
  core_->look_for_replicas();
  if (core_->needs_no_replicas()) return *core_;
  if (!commits_) {
    commits_ = core_->for_commits();
    if (version_key_) commits_->set_version_key(*version_key_);
  }
  return *commits_;
}

}  // namespace redquel::executor
