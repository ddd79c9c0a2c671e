#include "executor/redis/cluster_client.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "executor/redis/cluster_request.h"
#include "executor/redis/cluster_specials.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// A batch on its way through the cluster, its special commands included.
class Request final : public RedisRequest {
 public:
  Request(RedisClient& client, asio::any_io_executor executor, std::shared_ptr<ClusterScans> scans, std::shared_ptr<ClusterNodes> nodes, ClusterPlan plan,
          std::chrono::milliseconds move_timeout, ExecutionCounters* counters)
      : client_(client), executor_(std::move(executor)), scans_(std::move(scans)), nodes_(std::move(nodes)), move_timeout_(move_timeout), counters_(counters),
        request_(executor_, nodes_, std::move(plan), move_timeout, counters) {
    request_.begin();
  }

  asio::awaitable<RepliesPtr> replies() override {
    co_await request_.finish();
    std::vector<Reply> specials;
    std::vector<RepliesPtr> kept;
    for (const ClusterPlan::Special& special : request_.plan().specials()) {
      kept.push_back(co_await run_special(special.words));
      specials.push_back((*kept.back())[0]);
    }
    std::shared_ptr<Replies> merged = request_.merged(specials, kept);
    const bool lacks_version = std::ranges::any_of(kept, [](const RepliesPtr& one) { return !one->catalog_version(); });
    if (!request_.knows_version() || lacks_version) co_await read_version(*merged);
    co_return merged;
  }

 private:
  asio::awaitable<RepliesPtr> run_special(const std::vector<std::string>& words) {
    if (words[0] == "SCAN") co_return co_await scans_->scan(words, counters_);
    if (words[0] == "RANDOMKEY") co_return co_await scans_->random_key(counters_);
    if (words[0].starts_with('S') && words[0] != "SLOWLOG") co_return co_await run_set_algebra(client_, words, counters_);
    co_return co_await scans_->gather(words, counters_);
  }

  /// A version that is read behind all replies says as much as one in the same write. The key's slot may be on its way to another node, so that the
  /// version which ends a turn was refused.
  asio::awaitable<void> read_version(Replies& replies) {
    const std::string key = nodes_->version_key();
    if (key.empty()) co_return;
    CommandBatch batch;
    batch.add("GET", key);
    ClusterRequest request(executor_, nodes_, ClusterPlan::of(std::move(batch)), move_timeout_, nullptr);
    request.begin();
    co_await request.finish();
    const std::shared_ptr<Replies> read = request.merged({}, {});
    const std::optional<std::string_view> version = read->text(0);
    replies.set_catalog_version(version ? std::optional<std::string>(*version) : std::nullopt);
  }

  RedisClient& client_;
  asio::any_io_executor executor_;
  std::shared_ptr<ClusterScans> scans_;
  std::shared_ptr<ClusterNodes> nodes_;
  std::chrono::milliseconds move_timeout_;
  ExecutionCounters* counters_;
  ClusterRequest request_;
};

}  // namespace

ClusterClient::ClusterClient(asio::any_io_executor executor, std::shared_ptr<ClusterNodes> nodes, Options options)
    : executor_(executor), nodes_(std::move(nodes)), options_(std::move(options)),
      scans_(std::make_shared<ClusterScans>(executor, nodes_, options_.move_timeout)) {}

ClusterClient::~ClusterClient() = default;

std::unique_ptr<RedisRequest> ClusterClient::send(ClusterPlan plan, ExecutionCounters* counters) {
  return std::make_unique<Request>(*this, executor_, scans_, nodes_, std::move(plan), options_.move_timeout, counters);
}

asio::awaitable<RepliesPtr> ClusterClient::execute(CommandBatch batch, ExecutionCounters* counters) {
  if (batch.empty()) co_return std::make_shared<Replies>();
  const std::unique_ptr<RedisRequest> request = start(std::move(batch), counters);
  co_return co_await request->replies();
}

asio::awaitable<RepliesPtr> ClusterClient::execute_atomic(CommandBatch batch, ExecutionCounters* counters) {
  if (batch.empty()) co_return std::make_shared<Replies>();
  CommandBatch kept = batch;
  const std::unique_ptr<RedisRequest> request = start_atomic(std::move(batch), counters);
  bool is_refused = false;
  try {
    co_return co_await request->replies();
  } catch (const sql::SqlError& error) {
    is_refused = error.sqlstate() == sqlstate::kOutOfMemory;
    if (!is_refused) throw;
  }
  const std::unique_ptr<RedisRequest> again = send(ClusterPlan::of_snapshots(std::move(kept), ClusterPlan::Snapshots::kScripts), counters);
  co_return co_await again->replies();
}

std::unique_ptr<RedisRequest> ClusterClient::start(CommandBatch batch, ExecutionCounters* counters) {
  return send(ClusterPlan::of(std::move(batch)), counters);
}

std::unique_ptr<RedisRequest> ClusterClient::start_atomic(CommandBatch batch, ExecutionCounters* counters) {
  return send(ClusterPlan::of_snapshots(std::move(batch)), counters);
}

}  // namespace redquel::executor
