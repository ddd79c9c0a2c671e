#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "executor/redis/shared_connection.h"
#include "executor/redis/slot_map.h"
#include "executor/redis/topology.h"
#include "sql/error.h"

namespace redquel::executor {

/// The outcome of commands that were sent to one node.
struct NodeOutcome {
  RepliesPtr replies;                  // null: there is an error
  std::optional<sql::SqlError> error;  // 08006, 57P03, 57P01, 28000…
  bool was_sent = true;                // false: certainly none of the commands has run
  bool knows_version = true;           // the replies have the catalog's version
  std::uint64_t connection = 0;        // the number of the connection that the replies came from
};

/// Commands on their way to one node. Destroyed before their outcome was taken: the replies are read and dropped.
class NodeRequest {
 public:
  virtual ~NodeRequest() = default;
  /// Waits for the outcome; once. Throws system_error(operation_aborted) when the coroutine is cancelled.
  virtual asio::awaitable<NodeOutcome> outcome() = 0;
};

/// The nodes of a cluster, as one thread reaches them.
class ClusterNodes {
 public:
  virtual ~ClusterNodes() = default;
  /// Null: not known yet.
  virtual std::shared_ptr<const SlotMap> map() const = 0;
  /// Waits for the first map. Throws 08006, 28000, 42501, 0A000.
  virtual asio::awaitable<std::shared_ptr<const SlotMap>> known() = 0;
  virtual std::unique_ptr<NodeRequest> send(const TcpPlace& place, CommandBatch batch) = 0;
  /// Takes MOVED.
  virtual void moved(const Redirect& redirect) = 0;
  /// Something hints at another map. Throws 57P01 if this process ends, so that nothing waits for that map.
  virtual void look() = 0;
  /// Asks all masters which slots they have. Throws 08006.
  virtual asio::awaitable<std::vector<NodeSlots>> placement() = 0;
  /// Moves when a node turns out to be another server than before, or a master was replaced.
  virtual std::uint64_t generation() const = 0;
  /// Returns a key that has the catalog's version, of a slot that a node has; "": there is none.
  virtual std::string version_key() const = 0;
  /// Returns true once this process ends: nothing is sent any more.
  virtual bool is_closed() const { return false; }
};

/// Connections to the nodes of a cluster, each made at first use.
class NodeConnections final : public ClusterNodes, public std::enable_shared_from_this<NodeConnections> {
 public:
  /// `options.topology` knows the nodes.
  static std::shared_ptr<NodeConnections> make(asio::any_io_executor executor, ConnectionOptions options);

  std::shared_ptr<const SlotMap> map() const override { return options_.topology->map(); }
  asio::awaitable<std::shared_ptr<const SlotMap>> known() override { return options_.topology->known(options_.connect_timeout); }
  std::unique_ptr<NodeRequest> send(const TcpPlace& place, CommandBatch batch) override;
  void moved(const Redirect& redirect) override { options_.topology->moved(redirect); }
  void look() override;
  asio::awaitable<std::vector<NodeSlots>> placement() override { return options_.topology->placement(); }
  std::uint64_t generation() const override;
  std::string version_key() const override;
  bool is_closed() const override { return stopped_; }

  const ConnectionOptions& options() const { return options_; }
  /// Returns the connection to the node at the place.
  SharedConnection& connection(const TcpPlace& place) { return *node(place).connection; }
  ConnectionStatistics statistics() const;
  void stop();

 private:
  struct Less {
    bool operator()(const TcpPlace& left, const TcpPlace& right) const { return std::tie(left.host, left.port) < std::tie(right.host, right.port); }
  };
  struct Node {
    std::unique_ptr<SharedConnection> connection;
    bool had_slots = false, asks_version = false;
  };
  NodeConnections(asio::any_io_executor executor, ConnectionOptions options);
  /// Closes the connections to nodes that are masters no longer.
  void follow_topology();
  /// Throws 57P01 after stop().
  void check_open() const;
  Node& node(const TcpPlace& place);
  void set_version_key(const TcpPlace& place, Node& node);
  std::string version_key_of(const TcpPlace& place) const;

  asio::any_io_executor executor_;
  ConnectionOptions options_;
  std::map<TcpPlace, Node, Less> nodes_;
  std::uint64_t restarts_of_closed_ = 0;
  bool stopped_ = false;
};

}  // namespace redquel::executor
