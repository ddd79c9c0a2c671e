#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql/types/numeric.h"

namespace redquel::sql {

/// PostgreSQL's binary form of a numeric: groups of four decimal digits, the first with weight 10000^weight.
struct NumericGroups {
  enum Sign : std::uint16_t {
    kPositive = 0x0000,
    kNegative = 0x4000,
    kNan = 0xC000,
    kInfinity = 0xD000,
    kNegativeInfinity = 0xF000
  };

  std::int16_t weight = 0;
  std::uint16_t sign = kPositive;
  std::uint16_t scale = 0;
  std::vector<std::uint16_t> digits;
};

NumericGroups to_groups(const Numeric& value);
/// Digits beyond the scale are cut. The sign is one of the above, every group below 10000 (the caller checks).
Numeric from_groups(const NumericGroups& groups);

}  // namespace redquel::sql
