#include "executor/redis/cluster_scan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Each round visits the slots that moved in the one before.
constexpr int kMostRounds = 20;

const NodeSlots* owner_of(const std::vector<NodeSlots>& placement, std::size_t slot) {
  const auto found = std::ranges::find_if(placement, [slot](const NodeSlots& node) { return node.owned.test(slot); });
  return found == placement.end() ? nullptr : &*found;
}

}  // namespace

ClusterScan::ClusterScan(const std::vector<NodeSlots>& placement) : last_(placement) {
  for (const NodeSlots& node : placement) {
    visits_.push_back({.place = node.place, .slots = node.owned, .is_all = true});
    for (const auto& [slot, target] : node.leaving) moving_.set(slot);
  }
}

std::optional<ClusterScan::Page> ClusterScan::next() const {
  if (visits_.empty()) return std::nullopt;
  return Page{visits_.front().place, visits_.front().cursor};
}

void ClusterScan::advance(std::string_view cursor) {
  if (cursor == "0") visits_.pop_front();
  else visits_.front().cursor = std::string(cursor);
}

bool ClusterScan::wants(std::string_view key) const { return visits_.front().is_all || visits_.front().slots.test(slot_of(key)); }

void ClusterScan::replace(const SlotMap& now) {
  const Visit visit = std::move(visits_.front());
  visits_.pop_front();
  // A cursor means nothing to another server: it begins anew there.
  std::map<std::size_t, Slots> by_master;
  for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
    const std::optional<std::size_t> owner = visit.slots.test(slot) ? now.owner(static_cast<Slot>(slot)) : std::nullopt;
    if (owner) by_master[*owner].set(slot);
    else if (visit.slots.test(slot)) moving_.set(slot);
  }
  for (const auto& [master, slots] : by_master) visits_.push_front({.place = now.masters()[master].place, .slots = slots});
}

bool ClusterScan::finish(const std::vector<NodeSlots>& placement) {
  // A slot is complete if it had one master all the time that did not give keys of it away.
  Slots open = moving_;
  const bool is_first = rounds_ == 0;
  for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
    if (!is_first && !open.test(slot)) continue;
    const NodeSlots *before = owner_of(last_, slot), *now = owner_of(placement, slot);
    if (before == nullptr || now == nullptr ? before != now : before->place != now->place) open.set(slot);
    else if (!is_first) open.reset(slot);  // it was visited where it is, and where its keys go
  }
  std::map<std::size_t, TcpPlace> targets;
  for (const NodeSlots& node : placement) {
    for (const auto& [slot, target] : node.leaving) {
      targets[slot] = target;
      const bool was_visited = std::ranges::any_of(last_, [&, moved = slot, to = target](const NodeSlots& other) {
        return std::ranges::find(other.leaving, std::pair(moved, to)) != other.leaving.end();
      });
      if (is_first || (moving_.test(slot) && !was_visited)) open.set(slot);
    }
  }
  moving_ = open;
  last_ = placement;
  if (open.none()) return true;
  if (++rounds_ > kMostRounds) {
    throw sql::SqlError(sqlstate::kCannotConnectNow, "slots of the cluster move all the time").hint("Scan all keys when the cluster has come to rest.");
  }
  // First where the keys come from, then where they go to: what is missed there is found here.
  std::vector<Visit> sources, arrivals;
  const auto add = [](std::vector<Visit>& visits, const TcpPlace& place, std::size_t slot) {
    auto visit = std::ranges::find(visits, place, &Visit::place);
    if (visit == visits.end()) visit = visits.insert(visits.end(), Visit{.place = place, .slots = {}});
    visit->slots.set(slot);
  };
  for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
    if (!open.test(slot)) continue;
    if (const NodeSlots* now = owner_of(placement, slot)) add(sources, now->place, slot);
    if (const auto target = targets.find(slot); target != targets.end()) add(arrivals, target->second, slot);
  }
  for (std::vector<Visit>* visits : {&sources, &arrivals}) {
    for (Visit& visit : *visits) visits_.push_back(std::move(visit));
  }
  return false;
}

}  // namespace redquel::executor
