#include "executor/redis/slot_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "executor/redis/cluster_members.h"
#include "executor/redis/redis_error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Redis Cluster is made for at most 1,000 nodes.
constexpr std::size_t kMostMasters = 1'000, kMostReplicas = 1'000, kLongestId = 64;

template <typename Integer>
std::optional<Integer> number_in_text(std::string_view text) {
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.empty() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Takes [host, port, id, …] of CLUSTER SLOTS. The host is nil or empty if the node has not been told its own, and "?" if it is unknown.
std::optional<TcpPlace> node_place(const Reply& node, const TcpPlace& asked) {
  const std::span<const Reply> parts = node.children();
  if (parts.size() < 2 || parts[1].kind != Reply::Kind::integer || parts[1].integer < 1 || parts[1].integer > 65535) return std::nullopt;
  const std::string_view host = parts[0].is_nil() || parts[0].text.empty() ? std::string_view(asked.host) : parts[0].text;
  if (!is_host_of_node(host) || host == "?") return std::nullopt;
  return TcpPlace{std::string(host), static_cast<std::uint16_t>(parts[1].integer)};
}

std::optional<Slot> slot_in(const Reply& reply) {
  if (reply.kind != Reply::Kind::integer || reply.integer < 0 || reply.integer >= static_cast<std::int64_t>(kSlotCount)) return std::nullopt;
  return static_cast<Slot>(reply.integer);
}

/// Returns the reason why the reply is none of CLUSTER SLOTS; empty: the map is filled.
std::string read_slots(const Reply& reply, const TcpPlace& asked, SlotMap& map) {
  if (!reply.is_array()) return "it gives no slots";
  for (const Reply& range : reply.children()) {
    const std::span<const Reply> parts = range.children();
    const std::optional<Slot> first = parts.size() > 2 ? slot_in(parts[0]) : std::nullopt, last = parts.size() > 2 ? slot_in(parts[1]) : std::nullopt;
    if (!first || !last || *first > *last) return "it gives slots that are none";
    const std::optional<TcpPlace> place = node_place(parts[2], asked);
    if (!place) continue;  // slots without a node that could be asked
    ClusterMaster master{.place = *place, .id = {}, .replicas = {}};
    const std::span<const Reply> node = parts[2].children();
    if (node.size() > 2 && node[2].is_text() && node[2].text.size() <= kLongestId) master.id = std::string(node[2].text);
    for (const Reply& replica : parts.subspan(3, std::min(parts.size() - 3, kMostReplicas))) {
      if (std::optional<TcpPlace> other = node_place(replica, asked)) master.replicas.push_back(*std::move(other));
    }
    map.assign(*first, *last, std::move(master));
    if (map.masters().size() > kMostMasters) return "it names more than 1000 masters";
  }
  if (map.assigned() == 0) return "no slot has a node";
  return "";
}

}  // namespace

std::optional<std::size_t> SlotMap::find(const TcpPlace& place) const {
  const auto found = std::ranges::find(masters_, place, &ClusterMaster::place);
  if (found == masters_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - masters_.begin());
}

std::size_t SlotMap::assigned() const {
  return static_cast<std::size_t>(std::ranges::count_if(owners_, [](std::uint16_t owner) { return owner != kNobody; }));
}

bool SlotMap::has_same_owners(const SlotMap& other) const {
  // Most maps list their masters in the same order.
  if (owners_ == other.owners_ && std::ranges::equal(masters_, other.masters_, {}, &ClusterMaster::place, &ClusterMaster::place)) return true;
  for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
    const TcpPlace *own = place_of(static_cast<Slot>(slot)), *others = other.place_of(static_cast<Slot>(slot));
    if ((own == nullptr) != (others == nullptr) || (own != nullptr && *own != *others)) return false;
  }
  return true;
}

void SlotMap::assign(Slot slot, const TcpPlace& place) {
  std::optional<std::size_t> index = find(place);
  if (!index) {
    if (masters_.size() >= kMostMasters) return;
    index = masters_.size();
    masters_.push_back({.place = place, .id = {}, .replicas = {}});
  }
  owners_[slot] = static_cast<std::uint16_t>(*index);
}

void SlotMap::assign(Slot first, Slot last, ClusterMaster master) {
  std::optional<std::size_t> index = find(master.place);
  if (!index) {
    index = masters_.size();
    masters_.push_back(std::move(master));
  }
  for (std::size_t slot = first; slot <= last; ++slot) {
    if (owners_[slot] == kNobody) owners_[slot] = static_cast<std::uint16_t>(*index);
  }
}

CommandBatch topology_questions(const std::string& user, const std::string& password, bool only_looks) {
  CommandBatch batch;
  if (!user.empty()) {
    batch.add("AUTH", user, password);
  } else if (!password.empty()) {
    batch.add("AUTH", password);
  }
  if (!only_looks) batch.add("CONFIG", "GET", "cluster-node-timeout");
  batch.add("CLUSTER", "SLOTS");
  return batch;
}

TopologyAnswer read_topology(const Replies& replies, const TcpPlace& asked) {
  TopologyAnswer answer;
  const auto refuse = [&](sql::SqlError error, bool is_lasting) {
    answer.error = std::move(error);
    answer.is_lasting = is_lasting;
    return answer;
  };
  const Reply* slots = nullptr;
  for (std::size_t index = 0; index < replies.size(); ++index) {
    const Reply& reply = replies[index];
    const std::string_view command = replies.command(index);
    if (command == "CONFIG" && reply.children().size() == 2 && reply.children()[1].is_text()) {
      answer.node_timeout = std::chrono::milliseconds(number_in_text<std::uint32_t>(reply.children()[1].text).value_or(0));
    }
    if (command == "CLUSTER") slots = &reply;
    const bool is_optional = command == "CONFIG" && !reply.text.starts_with("NOAUTH");
    if (!reply.is_error() || is_optional) continue;
    sql::SqlError error = redis_error(reply.text, command);
    if (reply.text.starts_with("ERR This instance has cluster support disabled")) {
      return refuse(sql::SqlError(sqlstate::kFeatureNotSupported, "Redis at " + asked.address() + " is no node of a cluster").hint("Use redis://" + asked.address() + "."), true);
    }
    if (reply.text.starts_with("NOPERM")) return refuse(std::move(error).hint("Grant +cluster|slots to the user."), true);
    const bool is_login = command == "AUTH" || reply.text.starts_with("NOAUTH");
    return refuse(std::move(error), is_login && !reply.text.starts_with("LOADING"));
  }
  if (slots == nullptr) return refuse(connection_failed(asked.address(), "no answer"), false);
  auto map = std::make_shared<SlotMap>();
  if (const std::string reason = read_slots(*slots, asked, *map); !reason.empty()) return refuse(connection_failed(asked.address(), reason), false);
  answer.map = std::move(map);
  return answer;
}

NodeSlots read_node_slots(std::string_view text, const TcpPlace& asked) {
  const std::vector<ClusterMember> members = read_members(text, asked);
  NodeSlots slots;
  slots.place = asked;
  for (const ClusterMember& member : members) {
    if (!member.is_asked) continue;
    slots.owned = member.slots;
    for (const auto& [slot, id] : member.leaving) {
      const auto target = std::ranges::find(members, id, &ClusterMember::id);
      if (target != members.end()) slots.leaving.emplace_back(slot, target->place);
    }
  }
  return slots;
}

std::optional<Redirect> read_redirect(std::string_view text, const TcpPlace& answered_by) {
  if (text.starts_with("MOVED ")) text.remove_prefix(6);
  else if (text.starts_with("ASK ")) text.remove_prefix(4);
  else return std::nullopt;
  const std::size_t space = text.find(' '), colon = text.rfind(':');
  if (space == std::string_view::npos || colon == std::string_view::npos || colon < space) return std::nullopt;
  const auto slot = number_in_text<Slot>(text.substr(0, space));
  const auto port = number_in_text<std::uint16_t>(text.substr(colon + 1));
  std::string_view host = text.substr(space + 1, colon - space - 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) host = answered_by.host;
  if (!slot || *slot >= kSlotCount || !port || *port == 0 || !is_host_of_node(host) || host == "?") return std::nullopt;
  return Redirect{*slot, {std::string(host), *port}};
}

}  // namespace redquel::executor
