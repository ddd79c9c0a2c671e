#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executor/redis/cluster_members.h"
#include "executor/redis/redis_login.h"
#include "executor/redis/slot_balance.h"
#include "executor/redis/url.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The masters of a cluster, what they hold, and slots whose move has begun.
struct ClusterSurvey {
  struct Master {
    ClusterMember node;
    std::size_t replicas = 0;  // that can be reached
    std::size_t slots = 0;
    std::uint64_t keys = 0, bytes = 0;
  };
  std::vector<Master> masters;
  std::vector<SlotLoad> loads;        // of slots with keys, and of those that take tables; owners are numbers of masters
  std::vector<SlotMove> unfinished;   // moves that were broken off; `from` and `to` may be equal: the mover's mark alone is left
  std::size_t slots_without_node = 0;
};

/// Moves slots of a cluster with their keys. Keys of redquel are copied, confirmed by all replicas of the target, and removed from the source if they
/// have not changed meanwhile. An application's keys go by MIGRATE, key by key in one step, and the target's replicas confirm them behind it.
///
/// While a slot moves, the mark `redquel:moving` is in it: scripts wait, also at a replica that was promoted. A move that was broken off is
/// completed by moving the slot to the same master again. All functions throw SqlError: 08006, 42501, 57P03, or what Redis answers.
class SlotMover {
 public:
  /// `url` names nodes of a cluster. `table_slots`: new tables may be put there.
  SlotMover(asio::any_io_executor executor, RedisUrl url, RedisLogin login, std::set<Slot> table_slots);
  ~SlotMover();

  /// Returns the sizes of slots with keys, estimated from at most 20,000 keys of each master.
  asio::awaitable<ClusterSurvey> survey();
  /// Moves a slot of the survey. `report` gets the number of keys that have moved. Returns that number in the end.
  asio::awaitable<std::uint64_t> move(const ClusterSurvey& survey, SlotMove wanted, std::function<void(std::uint64_t)> report);

 private:
  class Node;
  class Move;
  asio::awaitable<std::shared_ptr<Node>> node_at(TcpPlace place);
  asio::awaitable<std::vector<ClusterMember>> members();
  asio::awaitable<void> weigh(Node& node, std::size_t number, ClusterSurvey& survey, std::map<Slot, std::string>& targets);

  asio::any_io_executor executor_;
  RedisUrl url_;
  RedisLogin login_;
  std::set<Slot> table_slots_;
  std::map<std::string, std::shared_ptr<Node>> nodes_;  // by address
};

}  // namespace redquel::executor
