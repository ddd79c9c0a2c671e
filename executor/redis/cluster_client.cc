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
  Request(RedisClient& client, std::shared_ptr<ClusterScans> scans, std::shared_ptr<ClusterNodes> nodes, ClusterRequest request, ExecutionCounters* counters)
      : client_(client), scans_(std::move(scans)), nodes_(std::move(nodes)), request_(std::move(request)), counters_(counters) {
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

  /// A version that is read behind all replies says as much as one in the same write.
  asio::awaitable<void> read_version(Replies& replies) {
    CommandBatch batch;
    batch.add("PING");
    const std::optional<TcpPlace> place = nodes_->node_with_version();
    if (!place) co_return;
    const std::unique_ptr<NodeRequest> request = nodes_->send(*place, std::move(batch));
    const NodeOutcome outcome = co_await request->outcome();
    // Without it the replies are as those of a moment in which a definition changed: no plan has such a version.
    replies.set_catalog_version(outcome.replies && outcome.knows_version ? outcome.replies->catalog_version() : std::string(kMixedVersion));
  }

  RedisClient& client_;
  std::shared_ptr<ClusterScans> scans_;
  std::shared_ptr<ClusterNodes> nodes_;
  ClusterRequest request_;
  ExecutionCounters* counters_;
};

}  // namespace

ClusterClient::ClusterClient(asio::any_io_executor executor, std::shared_ptr<ClusterNodes> nodes, Options options)
    : executor_(executor), nodes_(std::move(nodes)), options_(std::move(options)),
      scans_(std::make_shared<ClusterScans>(executor, nodes_, options_.move_timeout)) {}

ClusterClient::~ClusterClient() = default;

std::unique_ptr<RedisRequest> ClusterClient::send(ClusterPlan plan, ExecutionCounters* counters) {
  return std::make_unique<Request>(*this, scans_, nodes_, ClusterRequest(executor_, nodes_, std::move(plan), options_.move_timeout, counters), counters);
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
