#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sql/catalog/buckets.h"

namespace redquel::executor {

/// The number of a part of a cluster's keys, 0 to 16383. All keys of a slot are at one node.
using Slot = std::uint16_t;
constexpr std::size_t kSlotCount = sql::kSlotCount;

/// Returns the slot of a key: CRC16 (XMODEM) of the key, or of its hash tag (sql::slot_of).
inline Slot slot_of(std::string_view key) { return static_cast<Slot>(sql::slot_of(key)); }

}  // namespace redquel::executor
