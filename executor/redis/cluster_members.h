#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/redis/slot.h"
#include "executor/redis/url.h"

namespace redquel::executor {

/// A node of a cluster, as CLUSTER NODES lists it. Anything in it may be a lie.
struct ClusterMember {
  std::string id;
  TcpPlace place;
  std::string master;       // the id of a replica's master; empty: it is a master
  bool is_asked = false;    // the node that has answered
  bool is_reachable = false;
  std::uint64_t epoch = 0;  // of two masters that claim a slot, the one with the greater epoch has it
  std::bitset<kSlotCount> slots;
  std::vector<std::pair<Slot, std::string>> leaving;  // whose keys are on their way to the node of that id; of the node that has answered
};

/// Takes the text of CLUSTER NODES of the node at `asked`. Nodes without an address are left out.
std::vector<ClusterMember> read_members(std::string_view text, const TcpPlace& asked);

/// Returns true if the text may be the host of a node.
bool is_host_of_node(std::string_view host);

}  // namespace redquel::executor
