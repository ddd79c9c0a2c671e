#pragma once

#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "sql/types/numeric.h"

// Included by the numeric_*.cc files only: see numeric.h.
namespace redquel::sql {

using boost::multiprecision::cpp_int;

struct BigInteger {
  cpp_int value;
};

/// 10^0 to 10^18.
inline constexpr std::array<std::int64_t, 19> kPowers = [] {
  std::array<std::int64_t, 19> powers{};
  std::int64_t power = 1;
  for (std::int64_t& slot : powers) slot = power, power *= power < 1'000'000'000'000'000'000 ? 10 : 1;
  return powers;
}();

/// Digits that results of division, roots and logarithms have at least.
inline constexpr int kMinSignificantDigits = 16;

/// 22003: a result that numeric cannot hold.
[[noreturn]] void throw_overflow();

/// 10^exponent; small ones come from a table.
cpp_int power_of_ten(std::size_t exponent);
/// Decimal digits of |value|; 0 for 0.
std::size_t decimal_digits(const cpp_int& value);
/// Decimal text and back, by halves: the library's own conversions take a third of a second at the type's limit.
std::string decimal_text(const cpp_int& value);
cpp_int parse_decimal(std::string_view digits);
/// value / divisor, half away from zero; divisor > 0.
cpp_int divide_rounded(const cpp_int& value, const cpp_int& divisor);

/// PostgreSQL keeps numerics in groups of four digits and derives result scales from them: the exponent (base 10000) of
/// the first group and that group; both 0 for 0.
struct LeadingGroup {
  int weight = 0;
  int digits = 0;
};
LeadingGroup leading_group(const Numeric& value);

/// a / b with `scale` digits after the point, rounded or truncated; both finite, b not 0.
Numeric divide_finite(const Numeric& a, const Numeric& b, int scale, bool round);
/// Digits after the point that `/` gives its result.
int division_scale(const Numeric& a, const Numeric& b);

}  // namespace redquel::sql
