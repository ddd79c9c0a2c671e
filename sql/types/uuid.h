#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace redquel::sql {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

}  // namespace redquel::sql
