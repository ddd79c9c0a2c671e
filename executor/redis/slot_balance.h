#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/redis/slot.h"

namespace redquel::executor {

/// A slot of a cluster and its size.
struct SlotLoad {
  Slot slot = 0;
  std::size_t owner = 0;  // the number of a master
  std::uint64_t keys = 0, bytes = 0;
  bool takes_tables = false;  // new tables may be put there
};

struct SlotMove {
  Slot slot;
  std::size_t from, to;
  bool operator==(const SlotMove&) const = default;
};

/// Returns moves after which the masters, of which there are so many, have about as many bytes each: the fullest one has at most a ninth more
/// than the emptiest one, as far as whole slots allow. Empty slots move only to give each master as many of those that take tables. Pure.
std::vector<SlotMove> balance_slots(std::vector<SlotLoad> loads, std::size_t masters);

}  // namespace redquel::executor
