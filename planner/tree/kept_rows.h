#pragma once

#include <cstdint>

namespace redquel::planner {

/// Shares with this number or a greater one are the planner's own: their rows are kept to save work, and computed again where they are
/// too many to keep.
inline constexpr std::uint32_t kFirstKeptRows = 1u << 30;

}  // namespace redquel::planner
