#include "executor/redis/slot_balance.h"

#include <algorithm>
#include <map>
#include <utility>

namespace redquel::executor {

namespace {

/// A difference of less than this part of the fullest master's bytes is not worth a move.
constexpr std::uint64_t kTolerance = 10;

class Balance {
 public:
  Balance(std::vector<SlotLoad> loads, std::size_t masters) : loads_(std::move(loads)), bytes_(masters), places_(masters) {
    for (const SlotLoad& load : loads_) {
      before_.emplace(load.slot, load.owner);
      bytes_[load.owner] += load.bytes;
      if (load.takes_tables) ++places_[load.owner];
    }
  }

  void spread_bytes() {
    while (true) {
      const auto [least, most] = std::ranges::minmax_element(bytes_);
      const std::uint64_t difference = *most - *least;
      if (difference <= *most / kTolerance) return;
      const auto from = static_cast<std::size_t>(most - bytes_.begin()), to = static_cast<std::size_t>(least - bytes_.begin());
      SlotLoad* best = nullptr;
      for (SlotLoad& load : loads_) {
        if (load.owner != from || load.bytes == 0 || load.bytes >= difference) continue;
        const auto distance = [&](const SlotLoad& other) { return std::max(2 * other.bytes, difference) - std::min(2 * other.bytes, difference); };
        if (best == nullptr || distance(load) < distance(*best)) best = &load;
      }
      if (best == nullptr) return;  // the fullest master has large slots only
      move(*best, to);
    }
  }

  void spread_places() {
    while (true) {
      const auto [least, most] = std::ranges::minmax_element(places_);
      if (*most - *least <= 1) return;
      const auto from = static_cast<std::size_t>(most - places_.begin()), to = static_cast<std::size_t>(least - places_.begin());
      const auto is_free = [&](const SlotLoad& load) { return load.owner == from && load.takes_tables && load.keys == 0; };
      const auto found = std::ranges::find_if(loads_, is_free);
      if (found == loads_.end()) return;
      move(*found, to);
    }
  }

  std::vector<SlotMove> moves() const {
    std::vector<SlotMove> moves;
    for (const SlotLoad& load : loads_) {
      if (const std::size_t from = before_.at(load.slot); from != load.owner) moves.push_back({load.slot, from, load.owner});
    }
    std::ranges::sort(moves, {}, &SlotMove::slot);
    return moves;
  }

 private:
  void move(SlotLoad& load, std::size_t to) {
    bytes_[load.owner] -= load.bytes;
    bytes_[to] += load.bytes;
    if (load.takes_tables) {
      --places_[load.owner];
      ++places_[to];
    }
    load.owner = to;
  }

  std::vector<SlotLoad> loads_;
  std::map<Slot, std::size_t> before_;
  std::vector<std::uint64_t> bytes_;
  std::vector<std::size_t> places_;  // slots that take tables
};

}  // namespace

std::vector<SlotMove> balance_slots(std::vector<SlotLoad> loads, std::size_t masters) {
  if (masters < 2) return {};
  Balance balance(std::move(loads), masters);
  balance.spread_bytes();
  balance.spread_places();
  return balance.moves();
}

}  // namespace redquel::executor
