#include "executor/redis/slot_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>

#include "executor/redis/redis_error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Redis Cluster is made for at most 1,000 nodes.
constexpr std::size_t kMostMasters = 1'000, kMostReplicas = 1'000, kLongestNodeHost = 255, kLongestId = 64;

template <typename Integer>
std::optional<Integer> number_in_text(std::string_view text) {
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.empty() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_host(std::string_view host) {
  const auto is_unusable = [](unsigned char byte) { return byte <= ' ' || byte >= 0x7F; };
  return !host.empty() && host.size() <= kLongestNodeHost && !std::ranges::any_of(host, is_unusable);
}

/// Takes [host, port, id, …] of CLUSTER SLOTS. The host is nil or empty if the node has not been told its own, and "?" if it is unknown.
std::optional<TcpPlace> node_place(const Reply& node, const TcpPlace& asked) {
  const std::span<const Reply> parts = node.children();
  if (parts.size() < 2 || parts[1].kind != Reply::Kind::integer || parts[1].integer < 1 || parts[1].integer > 65535) return std::nullopt;
  const std::string_view host = parts[0].is_nil() || parts[0].text.empty() ? std::string_view(asked.host) : parts[0].text;
  if (!is_host(host) || host == "?") return std::nullopt;
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

std::vector<std::string_view> words_in(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
    if (!word.empty()) words.push_back(word);
  }
  return words;
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
  NodeSlots slots;
  slots.place = asked;
  std::vector<std::pair<Slot, std::string_view>> leaving;
  std::map<std::string_view, TcpPlace> places;  // by the names of the nodes
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::vector<std::string_view> words = words_in(line);
    // name, address, flags, master, ping, pong, epoch, link, slots…
    if (words.size() < 8 || places.size() >= kMostMasters + kMostReplicas) continue;
    const std::string_view address = words[1].substr(0, words[1].find_first_of("@,"));
    const std::size_t colon = address.rfind(':');
    if (colon != std::string_view::npos) {
      const auto port = number_in_text<std::uint16_t>(address.substr(colon + 1));
      const std::string_view host = colon == 0 ? std::string_view(asked.host) : address.substr(0, colon);
      if (port && *port != 0 && is_host(host)) places[words[0]] = {std::string(host), *port};
    }
    if (words[2].find("myself") == std::string_view::npos) continue;
    for (const std::string_view word : std::span(words).subspan(8)) {
      if (word.starts_with('[')) {
        const std::size_t arrow = word.find("->-");
        if (arrow == std::string_view::npos || !word.ends_with(']')) continue;
        const auto slot = number_in_text<Slot>(word.substr(1, arrow - 1));
        if (slot && *slot < kSlotCount) leaving.emplace_back(*slot, word.substr(arrow + 3, word.size() - arrow - 4));
        continue;
      }
      const std::size_t dash = word.find('-');
      const auto first = number_in_text<Slot>(word.substr(0, dash));
      const auto last = dash == std::string_view::npos ? first : number_in_text<Slot>(word.substr(dash + 1));
      if (!first || !last || *first > *last || *last >= kSlotCount) continue;
      for (std::size_t slot = *first; slot <= *last; ++slot) slots.owned.set(slot);
    }
  }
  for (const auto& [slot, name] : leaving) {
    const auto target = places.find(name);
    if (target != places.end()) slots.leaving.emplace_back(slot, target->second);
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
  if (!slot || *slot >= kSlotCount || !port || *port == 0 || !is_host(host) || host == "?") return std::nullopt;
  return Redirect{*slot, {std::string(host), *port}};
}

}  // namespace redquel::executor
