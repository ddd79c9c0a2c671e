#pragma once

#include <cstdint>

namespace redquel::planner {

/// Shares with this number or a greater one are the planner's own: their rows are kept to save work, and computed again where they are
/// too many to keep.
inline constexpr std::uint32_t kFirstKeptRows = 1u << 30;

/// The numbers of the shared rows that are the transition tables of a trigger. No share gives them: the call of the trigger does.
inline constexpr std::uint32_t kOldTableRows = kFirstKeptRows - 2, kNewTableRows = kFirstKeptRows - 1;
inline constexpr bool is_transition_table(std::uint32_t number) { return number == kOldTableRows || number == kNewTableRows; }

}  // namespace redquel::planner
