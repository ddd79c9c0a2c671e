#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"
#include "executor/redis/cluster_nodes.h"
#include "executor/redis/cluster_plan.h"

namespace redquel::executor {

/// The catalog's version in replies of nodes that differ in it: while a definition is applied. No plan has it.
inline constexpr std::string_view kMixedVersion = "?";

/// The parts of one batch on their way: sent to the nodes of their slots, and again until each has an answer.
class ClusterRequest {
 public:
  ClusterRequest(asio::any_io_executor executor, std::shared_ptr<ClusterNodes> nodes, ClusterPlan plan, std::chrono::milliseconds move_timeout,
                 ExecutionCounters* counters);

  /// Sends all parts, if the nodes are known.
  void begin();
  /// Waits until each part has an answer. Throws SqlError 57P03 if a slot is not served for `move_timeout`, 08006 if a write was lost.
  asio::awaitable<void> finish();

  const ClusterPlan& plan() const { return plan_; }
  /// After `finish`: the replies to all commands, with `specials` for the special ones, whose texts `kept` holds.
  std::shared_ptr<Replies> merged(std::span<const Reply> specials, std::span<const RepliesPtr> kept);
  /// After `finish`: false if a node's replies lack the catalog's version.
  bool knows_version() const { return knows_version_; }

 private:
  /// Units that went to one node in one write.
  struct Sent {
    TcpPlace place;
    std::vector<std::size_t> units, parts;  // parts: in the order of the replies, those of `units` and what goes beside them
    std::unique_ptr<NodeRequest> request;
    bool is_asking = false;  // ASKING stands before each part
  };

  /// Sends these units to the nodes of their slots. Those without a node wait.
  void send(std::span<const std::size_t> units);
  void send_asking(std::size_t unit, const TcpPlace& place);
  void submit(Sent sent, CommandBatch batch);
  asio::awaitable<void> take_outcomes();
  void take(const Sent& sent, NodeOutcome outcome);
  void judge(const Sent& sent, std::size_t unit);
  void wait_with(std::size_t unit, std::string reason);
  TcpPlace any_place(const SlotMap& map) const;
  sql::SqlError overdue() const;

  asio::any_io_executor executor_;
  std::shared_ptr<ClusterNodes> nodes_;
  ClusterPlan plan_;
  std::chrono::milliseconds move_timeout_;
  ExecutionCounters* counters_;
  bool has_begun_ = false, knows_version_ = true;

  std::vector<Reply> replies_;      // to the parts
  std::vector<RepliesPtr> kept_;    // whose arenas they point into
  std::vector<Sent> sent_;
  std::vector<std::size_t> beside_;  // units of SCRIPT LOAD
  std::vector<TcpPlace> have_scripts_;
  // What the last round brought.
  std::vector<std::size_t> moved_, waiting_;
  struct Asking {
    std::size_t unit;
    TcpPlace place;
  };
  std::vector<Asking> asking_;
  std::string reason_;               // why a unit waits
  std::optional<Slot> waiting_slot_;
};

}  // namespace redquel::executor
