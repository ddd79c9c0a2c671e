#pragma once

#include <cstddef>
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

/// Bytes whose memcmp order is the order of numerics: a letter for the class, then the decimal exponent in six digits, then the digits.
/// Negative numbers have both complemented and end in '~', so that more digits make them smaller.
std::string ordered_numeric(const Numeric& value);

/// hash_numeric(): over the groups without zeros at either end; the weight of the first is mixed in.
std::uint64_t hash_numeric(const Numeric& value, std::uint64_t seed);

/// Bytes of the value in PostgreSQL's memory, without the header of its length: groups without zeros at either end, and a header that is
/// longer where the value is.
std::size_t numeric_size(const Numeric& value);

}  // namespace redquel::sql
