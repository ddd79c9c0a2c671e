#pragma once

#include <bitset>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "executor/redis/slot.h"
#include "executor/redis/url.h"
#include "sql/error.h"

namespace redquel::executor {

/// A master of a cluster that has slots, and the replicas that may be promoted in its place.
struct ClusterMaster {
  TcpPlace place;
  std::string id;  // as the cluster names the node
  std::vector<TcpPlace> replicas;
};

/// Which master has which slots, as one node knows it.
class SlotMap {
 public:
  /// Returns the index of the slot's master in `masters()`; nullopt: the slot has none.
  std::optional<std::size_t> owner(Slot slot) const { return owners_[slot] == kNobody ? std::nullopt : std::optional<std::size_t>(owners_[slot]); }
  const TcpPlace* place_of(Slot slot) const { return owners_[slot] == kNobody ? nullptr : &masters_[owners_[slot]].place; }
  const std::vector<ClusterMaster>& masters() const { return masters_; }
  /// Returns the index of the master at the place; nullopt: it has no slots.
  std::optional<std::size_t> find(const TcpPlace& place) const;
  /// Returns how many slots have a master.
  std::size_t assigned() const;

  /// Returns true if each slot has the same master in both.
  bool has_same_owners(const SlotMap& other) const;

  /// Gives the slot to the node at the place, which need not be known yet (MOVED).
  void assign(Slot slot, const TcpPlace& place);
  /// Gives the slots to the master. Slots that have one already keep it.
  void assign(Slot first, Slot last, ClusterMaster master);

 private:
  static constexpr std::uint16_t kNobody = 0xFFFF;
  std::vector<ClusterMaster> masters_;
  std::vector<std::uint16_t> owners_ = std::vector<std::uint16_t>(kSlotCount, kNobody);
};

/// The answer of one node to `topology_questions`. Anything in it may be a lie.
struct TopologyAnswer {
  std::shared_ptr<const SlotMap> map;        // null: it gives none
  std::chrono::milliseconds node_timeout{};  // zero: it does not say
  std::optional<sql::SqlError> error;        // the reason why it gives none: 28000, 42501, 0A000, 57P03, 08006
  bool is_lasting = false;                   // asking again is pointless: login, rights, not a cluster
};

/// Returns the login and the questions for one node. `only_looks`: nothing of @admin, so that the timeout stays unknown.
CommandBatch topology_questions(const std::string& user, const std::string& password, bool only_looks = false);
/// Takes the replies to topology_questions(), which may be fewer, from the node at `asked`.
TopologyAnswer read_topology(const Replies& replies, const TcpPlace& asked);

/// The slots of one master, by its own word.
struct NodeSlots {
  TcpPlace place;
  std::bitset<kSlotCount> owned;
  std::vector<std::pair<Slot, TcpPlace>> leaving;  // whose keys are on their way to that place
};
/// Takes the text of CLUSTER NODES of the node at `asked`.
NodeSlots read_node_slots(std::string_view text, const TcpPlace& asked);

/// The place that an error reply names: "MOVED 3999 127.0.0.1:6381" or "ASK 3999 127.0.0.1:6381". An empty host is that of the node that
/// answered.
struct Redirect {
  Slot slot;
  TcpPlace place;
};
std::optional<Redirect> read_redirect(std::string_view error_text, const TcpPlace& answered_by);

}  // namespace redquel::executor
