#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redquel::executor {

/// The number of a part of a cluster's keys, 0 to 16383. All keys of a slot are at one node.
using Slot = std::uint16_t;
constexpr std::size_t kSlotCount = 16'384;

/// Returns the slot of a key: CRC16 (XMODEM) of the key, or of its hash tag, the text between the first { and the next } if it is not empty
/// (Redis Cluster specification, "Hash tags").
Slot slot_of(std::string_view key);

}  // namespace redquel::executor
