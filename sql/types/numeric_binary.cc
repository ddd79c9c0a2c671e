#include "sql/types/numeric_binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "sql/types/big_integer.h"
#include "sql/types/postgres_hash.h"

namespace redquel::sql {
namespace {

constexpr char kNegativeInfinityClass = 'A', kNegativeClass = 'B', kZeroClass = 'C', kPositiveClass = 'D',
               kInfinityClass = 'E', kNanClass = 'F';
constexpr int kExponentBias = 20'000;

}  // namespace

NumericGroups to_groups(const Numeric& value) {
  NumericGroups groups;
  if (value.is_nan()) groups.sign = NumericGroups::kNan;
  if (value.is_infinite()) {
    groups.sign = value.sign() > 0 ? NumericGroups::kInfinity : NumericGroups::kNegativeInfinity;
    groups.scale = 0x20;  // a bit of PostgreSQL's own header that it sends along
  }
  if (!value.is_finite()) return groups;
  groups.scale = static_cast<std::uint16_t>(value.scale());
  std::string digits = decimal_text(value.unscaled().value);
  if (digits.front() == '-') {
    groups.sign = NumericGroups::kNegative;
    digits.erase(0, 1);
  }
  // Zeros on both sides until the point lies between two groups.
  const auto scale = static_cast<std::size_t>(value.scale());
  const std::size_t integer_digits = digits.size() > scale ? digits.size() - scale : 0;
  if (digits.size() < scale) digits.insert(0, scale - digits.size(), '0');
  digits.append((4 - scale % 4) % 4, '0');
  digits.insert(0, (4 - integer_digits % 4) % 4, '0');
  int weight = static_cast<int>((integer_digits + 3) / 4) - 1;
  for (std::size_t i = 0; i < digits.size(); i += 4) {
    const auto group = static_cast<std::uint16_t>((digits[i] - '0') * 1000 + (digits[i + 1] - '0') * 100 +
                                                  (digits[i + 2] - '0') * 10 + (digits[i + 3] - '0'));
    if (group == 0 && groups.digits.empty()) {
      --weight;
    } else {
      groups.digits.push_back(group);
    }
  }
  while (!groups.digits.empty() && groups.digits.back() == 0) groups.digits.pop_back();
  groups.weight = groups.digits.empty() ? std::int16_t{0} : static_cast<std::int16_t>(weight);
  return groups;
}

Numeric from_groups(const NumericGroups& groups) {
  switch (groups.sign) {
    case NumericGroups::kNan:
      return Numeric::nan();
    case NumericGroups::kInfinity:
      return Numeric::infinity();
    case NumericGroups::kNegativeInfinity:
      return Numeric::negative_infinity();
    default:
      break;
  }
  const int scale = groups.scale;
  std::string digits;
  digits.reserve(groups.digits.size() * 4 + 1);
  for (const std::uint16_t group : groups.digits) {
    digits.push_back(static_cast<char>('0' + group / 1000));
    digits.push_back(static_cast<char>('0' + group / 100 % 10));
    digits.push_back(static_cast<char>('0' + group / 10 % 10));
    digits.push_back(static_cast<char>('0' + group % 10));
  }
  // The digits stand for an integer times 10^exponent; what lies behind the scale goes.
  const std::int64_t exponent = 4 * (std::int64_t{groups.weight} + 1 - static_cast<std::int64_t>(groups.digits.size()));
  const std::int64_t shift = exponent + scale;
  if (shift < 0)
    digits.resize(-shift < static_cast<std::int64_t>(digits.size()) ? digits.size() - static_cast<std::size_t>(-shift)
                                                                    : 0);
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, first);
  if (digits.empty()) return Numeric(0, scale);
  cpp_int unscaled = parse_decimal(digits);
  if (shift > 0) unscaled *= power_of_ten(static_cast<std::size_t>(shift));
  if (groups.sign == NumericGroups::kNegative) unscaled = -unscaled;
  return Numeric::from_big(BigInteger{std::move(unscaled)}, scale);
}

std::string ordered_numeric(const Numeric& value) {
  if (value.is_nan()) return {kNanClass};
  if (value.is_infinite()) return {value.sign() > 0 ? kInfinityClass : kNegativeInfinityClass};
  if (value.is_zero()) return {kZeroClass};
  const bool negative = value.sign() < 0;
  std::string digits = decimal_text(value.abs().unscaled().value);
  const int exponent = static_cast<int>(digits.size()) - value.scale();  // value = 0.digits × 10^exponent
  digits.resize(digits.find_last_not_of('0') + 1);
  std::string result(1, negative ? kNegativeClass : kPositiveClass);
  if (negative) {
    result += fmt::format("{:06}", 999'999 - (exponent + kExponentBias));
    for (char& digit : digits) digit = static_cast<char>('0' + '9' - digit);
    result += digits;
    result.push_back('~');
  } else {
    result += fmt::format("{:06}", exponent + kExponentBias);
    result += digits;
  }
  return result;
}

std::uint64_t hash_numeric(const Numeric& value, std::uint64_t seed) {
  if (!value.is_finite()) return seed;
  NumericGroups groups = to_groups(value);
  std::vector<std::uint16_t>& digits = groups.digits;
  const auto first = std::ranges::find_if(digits, [](std::uint16_t digit) { return digit != 0; });
  const int weight = groups.weight - static_cast<int>(first - digits.begin());
  digits.erase(digits.begin(), first);
  while (!digits.empty() && digits.back() == 0) digits.pop_back();
  if (digits.empty()) return seed - 1;
  const std::string_view bytes(reinterpret_cast<const char*>(digits.data()), digits.size() * sizeof digits[0]);
  return hash_bytes(bytes, seed) ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(weight));
}

std::size_t numeric_size(const Numeric& value) {
  const std::string text = value.to_string();
  std::string_view digits = text;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return 2;  // NaN, Infinity
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::string whole(digits.substr(0, point));
  std::string fraction(point < digits.size() ? digits.substr(point + 1) : std::string_view());
  const std::size_t scale = fraction.size();
  whole.insert(0, (4 - whole.size() % 4) % 4, '0');
  fraction.append((4 - fraction.size() % 4) % 4, '0');
  const std::string all = whole + fraction;
  std::size_t first = 0, end = all.size() / 4;
  while (first < end && all.compare(first * 4, 4, "0000") == 0) ++first;
  while (first < end && all.compare((end - 1) * 4, 4, "0000") == 0) --end;
  const auto weight = static_cast<std::ptrdiff_t>(whole.size() / 4) - static_cast<std::ptrdiff_t>(first) - 1;
  const bool is_short = scale <= 63 && (first == end || (weight >= -64 && weight <= 63));
  return (is_short ? 2 : 4) + 2 * (end - first);
}

}  // namespace redquel::sql
