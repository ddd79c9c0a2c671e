#include "executor/redis/cluster_nodes.h"

#include <utility>

#include "executor/redis/pending_batch.h"
#include "executor/redis/redis_error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// A node that is gone may be another's successor soon: its connection tries often, and asks for the topology each time.
constexpr std::chrono::milliseconds kLongestRetryPause{250};
/// Redis Cluster is made for at most 1,000 nodes.
constexpr std::size_t kMostNodes = 1'000;

class ConnectionRequest final : public NodeRequest {
 public:
  ConnectionRequest(std::shared_ptr<PendingBatch> pending, bool asks_version) : pending_(std::move(pending)), asks_version_(asks_version) {}
  ~ConnectionRequest() override { pending_->abandon(); }
  ConnectionRequest(const ConnectionRequest&) = delete;
  ConnectionRequest& operator=(const ConnectionRequest&) = delete;

  asio::awaitable<NodeOutcome> outcome() override {
    co_await pending_->wait();
    NodeOutcome outcome;
    outcome.was_sent = pending_->replies != nullptr;
    outcome.error = pending_->error;
    outcome.connection = pending_->connection;
    outcome.knows_version = asks_version_ && pending_->knows_version;
    if (!outcome.error) outcome.replies = pending_->replies;
    co_return outcome;
  }

 private:
  std::shared_ptr<PendingBatch> pending_;
  bool asks_version_;
};

/// The number of servers that were found at the place of another one.
std::uint64_t restarts_of(const SharedConnection& connection) { return connection.generation() > 0 ? connection.generation() - 1 : 0; }

}  // namespace

NodeConnections::NodeConnections(asio::any_io_executor executor, ConnectionOptions options) : executor_(executor), options_(std::move(options)) {}

std::shared_ptr<NodeConnections> NodeConnections::make(asio::any_io_executor executor, ConnectionOptions options) {
  const std::shared_ptr<NodeConnections> nodes(new NodeConnections(executor, std::move(options)));
  nodes->options_.topology->on_change([weak = std::weak_ptr(nodes)] {
    if (const std::shared_ptr<NodeConnections> self = weak.lock()) self->follow_topology();
  });
  return nodes;
}

std::string NodeConnections::version_key_of(const TcpPlace& place) const {
  const std::shared_ptr<const SlotMap> map = this->map();
  if (!map) return "";
  for (const std::string& key : options_.node_version_keys) {
    const TcpPlace* owner = map->place_of(slot_of(key));
    if (owner != nullptr && *owner == place) return key;
  }
  return "";
}

std::string NodeConnections::version_key() const {
  const std::shared_ptr<const SlotMap> map = this->map();
  if (!map) return "";
  for (const std::string& key : options_.node_version_keys) {
    if (map->place_of(slot_of(key)) != nullptr) return key;
  }
  return "";
}

void NodeConnections::check_open() const {
  if (stopped_) throw sql::SqlError(sqlstate::kAdminShutdown, "the connection to Redis is closed");
}

void NodeConnections::look() {
  check_open();
  options_.topology->look();
}

NodeConnections::Node& NodeConnections::node(const TcpPlace& place) {
  check_open();
  if (nodes_.size() >= kMostNodes && !nodes_.contains(place)) {
    throw sql::SqlError(sqlstate::kProgramLimitExceeded, "the cluster names more than 1000 nodes");  // redirects may be made up
  }
  Node& node = nodes_[place];
  if (!node.connection) {
    ConnectionOptions options = options_;
    options.url.cluster.clear();
    options.url.place = place;
    options.url.is_node = true;
    options.retry_pause_limit = kLongestRetryPause;
    options.version_key.clear();
    node.connection = std::make_unique<SharedConnection>(executor_, std::move(options));
    set_version_key(place, node);
  }
  node.had_slots = node.had_slots || (map() && map()->find(place));
  return node;
}

void NodeConnections::set_version_key(const TcpPlace& place, Node& node) {
  std::string key = version_key_of(place);
  node.asks_version = options_.own_version || !key.empty();
  node.connection->set_version_key(std::move(key));
}

std::unique_ptr<NodeRequest> NodeConnections::send(const TcpPlace& place, CommandBatch batch) {
  const Node& node = this->node(place);
  return std::make_unique<ConnectionRequest>(node.connection->submit(std::move(batch)), node.asks_version);
}

std::uint64_t NodeConnections::generation() const {
  std::uint64_t restarts = restarts_of_closed_;
  for (const auto& [place, node] : nodes_) restarts += restarts_of(*node.connection);
  return 1 + options_.topology->failovers() + restarts;
}

void NodeConnections::follow_topology() {
  const std::shared_ptr<const SlotMap> map = this->map();
  std::vector<std::unique_ptr<SharedConnection>> closed;
  for (auto node = nodes_.begin(); node != nodes_.end();) {
    const bool is_master = map->find(node->first).has_value();
    // A node that never had slots is about to get its first ones.
    if (is_master || !node->second.had_slots) {
      set_version_key(node->first, node->second);
      ++node;
      continue;
    }
    restarts_of_closed_ += restarts_of(*node->second.connection);
    closed.push_back(std::move(node->second.connection));
    node = nodes_.erase(node);
  }
  for (const auto& connection : closed) connection->stop(connection_lost("the node is no master of the cluster any longer"));
}

ConnectionStatistics NodeConnections::statistics() const {
  ConnectionStatistics sum;
  for (const auto& [place, node] : nodes_) sum += node.connection->statistics();
  return sum;
}

void NodeConnections::stop() {
  stopped_ = true;
  for (const auto& [place, node] : nodes_) node.connection->stop();
}

}  // namespace redquel::executor
