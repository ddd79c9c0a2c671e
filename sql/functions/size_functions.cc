// Sizes in words and back (manual 9.28.7).

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/numeric.h"

namespace redquel::sql {
namespace {

/// A unit serves up to ten thousand of it; the last step rounds half away from zero.
constexpr std::string_view kSizeUnits[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};

std::string size_text(std::int64_t size) {
  std::uint64_t magnitude = size < 0 ? 0 - static_cast<std::uint64_t>(size) : static_cast<std::uint64_t>(size);
  std::size_t unit = 0;
  if (magnitude >= 10 * 1024) {
    // From here on in halves of the unit, so that the rounding needs no more.
    for (magnitude >>= 9, unit = 1; magnitude >= 20 * 1024 - 1 && unit + 1 < std::size(kSizeUnits); ++unit)
      magnitude >>= 10;
    magnitude = (magnitude + 1) / 2;
  }
  return (size < 0 ? "-" : "") + std::to_string(magnitude) + " " + std::string(kSizeUnits[unit]);
}

std::string numeric_size_text(const Numeric& size) {
  Numeric amount = size;
  std::size_t unit = 0;
  const auto reaches = [&](std::int64_t limit) { return amount.abs() >= Numeric(limit); };
  if (reaches(10 * 1024)) {
    for (amount = divide_truncated(amount, Numeric(512)), unit = 1;
         reaches(20 * 1024 - 1) && unit + 1 < std::size(kSizeUnits); ++unit) {
      amount = divide_truncated(amount, Numeric(1024));
    }
    amount = divide_truncated(amount + Numeric(amount.sign() < 0 ? -1 : 1), Numeric(2));
  }
  return amount.to_string() + " " + std::string(kSizeUnits[unit]);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

/// The number at the start: sign, digits, fraction, exponent. An E without digits begins a unit. Empty: none.
std::string_view leading_number(std::string_view text) {
  std::size_t end = 0, digits = 0;
  const auto pass_digits = [&] {
    const std::size_t begin = end;
    while (end < text.size() && is_digit(text[end])) ++end;
    return end - begin;
  };
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) ++end;
  digits += pass_digits();
  if (end < text.size() && text[end] == '.') {
    ++end;
    digits += pass_digits();
  }
  if (digits == 0) return {};
  if (end < text.size() && to_lower(text[end]) == 'e') {
    const std::size_t mantissa = end++;
    if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
    if (pass_digits() == 0) end = mantissa;
  }
  return text.substr(0, end);
}

std::int64_t size_bytes(std::string_view text) {
  const auto invalid = [](std::string_view size) {
    return SqlError(sqlstate::kInvalidParameterValue, "invalid size: \"" + std::string(size) + "\"");
  };
  std::string_view rest = text;
  const auto pass_blanks = [&] {
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  };
  pass_blanks();
  const std::string_view number = leading_number(rest);
  if (number.empty()) throw invalid(text);
  rest.remove_prefix(number.size());
  Numeric size = Numeric::parse(number);
  pass_blanks();
  if (rest.empty()) return size.to_int64();
  while (is_blank(rest.back())) rest.remove_suffix(1);
  std::int64_t factor = 1;
  for (const std::string_view unit : kSizeUnits) {
    if (equal_ignoring_case(rest, unit)) return (size * Numeric(factor)).to_int64();
    factor *= 1024;
  }
  throw invalid(text)
      .detail("Invalid size unit: \"" + std::string(rest) + "\".")
      .hint("Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".");
}

}  // namespace

std::vector<ScalarFunction> size_functions() {
  return {
      scalar<size_text>("pg_size_pretty", {kInt8}, kText),
      scalar<numeric_size_text>("pg_size_pretty", {kNumeric}, kText),
      scalar<size_bytes>("pg_size_bytes", {kText}, kInt8),
  };
}

}  // namespace redquel::sql
