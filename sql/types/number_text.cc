#include "sql/types/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

[[noreturn]] void throw_syntax(std::string_view type, std::string_view text) {
  throw invalid_text_of(type, text);
}

[[noreturn]] void throw_range(std::string_view type, std::string_view text) {
  throw SqlError(sqlstate::kNumericValueOutOfRange, fmt::format("value \"{}\" is out of range for type {}", text, type));
}

template <class Integer>
Integer parse_integer(std::string_view type, std::string_view text) {
  const std::string_view trimmed = trim_blanks(text);
  const char* begin = trimmed.data();
  const char* const end = begin + trimmed.size();
  // from_chars knows '-' but not '+'.
  if (begin != end && *begin == '+' && trimmed.size() > 1 && begin[1] != '-') ++begin;
  Integer value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range) throw_range(type, text);  // before what follows is looked at
  if (error == std::errc::invalid_argument || stop != end) throw_syntax(type, text);
  return value;
}

template <class Float>
Float parse_float(std::string_view type, std::string_view text) {
  const std::string_view trimmed = trim_blanks(text);
  const char* begin = trimmed.data();
  const char* const end = begin + trimmed.size();
  if (begin == end) throw_syntax(type, text);
  bool negative = false;
  if (*begin == '-' || *begin == '+') negative = *begin++ == '-';
  const std::string_view rest(begin, static_cast<std::size_t>(end - begin));
  Float value = 0;
  const bool is_number = !rest.empty() && ((rest[0] >= '0' && rest[0] <= '9') || rest[0] == '.');
  if (is_number) {
    std::from_chars_result result{};
    if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X')) {  // strtod reads C99 hexadecimals
      result = std::from_chars(begin + 2, end, value, std::chars_format::hex);
    } else {
      result = std::from_chars(begin, end, value);
    }
    if (result.ec == std::errc::invalid_argument || result.ptr != end) throw_syntax(type, text);
    if (result.ec == std::errc::result_out_of_range)
      throw SqlError(sqlstate::kNumericValueOutOfRange, fmt::format("\"{}\" is out of range for type {}", trimmed, type));
  } else if (equals_ignoring_case(rest, "nan")) {
    value = std::numeric_limits<Float>::quiet_NaN();
  } else if (equals_ignoring_case(rest, "infinity") || equals_ignoring_case(rest, "inf")) {
    value = std::numeric_limits<Float>::infinity();
  } else {
    throw_syntax(type, text);
  }
  return negative ? -value : value;
}

/// Shortest digits that read back, in scientific form. PostgreSQL never takes a decimal that lies exactly half-way to
/// the next float, although it would read back (1e23), so such a one gets more digits.
template <class Float>
std::string_view shortest_scientific(Float value, char (&buffer)[64]) {
  const auto text = [&](std::to_chars_result result) {
    return std::string_view(buffer, static_cast<std::size_t>(result.ptr - buffer));
  };
  std::string_view shortest = text(std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific));
  // Half-way points below 2^mantissa have more digits than a shortest form can have.
  constexpr int kMantissa = std::numeric_limits<Float>::digits;
  if (std::fabs(value) < std::ldexp(Float{1}, kMantissa)) return shortest;
  int exponent = 0;
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), kMantissa));
  exponent -= kMantissa;  // |value| = mantissa × 2^exponent
  const auto is_halfway = [&](std::string_view decimal) {
    std::uint64_t digits = 0;
    std::size_t at = decimal.front() == '-' ? 1 : 0, fraction = 0;
    for (bool after_point = false; decimal[at] != 'e'; ++at) {
      if (decimal[at] == '.') {
        after_point = true;
      } else {
        digits = digits * 10 + static_cast<std::uint64_t>(decimal[at] - '0');
        fraction += after_point;
      }
    }
    int tens = 0;
    std::from_chars(decimal.data() + at + 2, decimal.data() + decimal.size(), tens);
    tens -= static_cast<int>(fraction);  // decimal = digits × 10^tens
    int twos = tens;
    for (; tens < 0; ++tens) {
      if (digits % 5 != 0) return false;
      digits /= 5;
    }
    for (; digits % 2 == 0; digits /= 2) ++twos;
    for (; tens > 0 && digits <= 2 * mantissa + 1; --tens) digits *= 5;
    return tens == 0 && twos == exponent - 1 && (digits == 2 * mantissa + 1 || digits == 2 * mantissa - 1);
  };
  for (int precision = -1; is_halfway(shortest); ++precision) {
    if (precision < 0) precision = static_cast<int>(shortest.find('e')) - (shortest.front() == '-' ? 2 : 1);
    const std::string_view candidate =
        text(std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, precision));
    Float back = 0;
    std::from_chars(candidate.data(), candidate.data() + candidate.size(), back);
    if (back == value) shortest = candidate;
    if (precision > std::numeric_limits<Float>::max_digits10) break;
  }
  return shortest;
}

/// Exponent form from 10^15 (floats: 10^6) on and below 10^-4.
template <class Float>
void append_float(Float value, int extra_float_digits, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value > 0 ? "Infinity" : "-Infinity";
    return;
  }
  constexpr int kDigits = std::numeric_limits<Float>::digits10;
  char buffer[64];
  if (extra_float_digits <= 0) {
    const int precision = std::max(1, kDigits + extra_float_digits);
    const int length = std::snprintf(buffer, sizeof buffer, "%.*g", precision, static_cast<double>(value));
    out.append(buffer, static_cast<std::size_t>(length));
    return;
  }
  const std::string_view scientific = shortest_scientific(value, buffer);
  const std::size_t mark = scientific.find('e');
  int exponent = 0;
  std::from_chars(scientific.data() + mark + 2, scientific.data() + scientific.size(), exponent);
  if (scientific[mark + 1] == '-') exponent = -exponent;
  if (exponent < -4 || exponent >= kDigits) {
    out += scientific;
    return;
  }
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  out.append(static_cast<const char*>(buffer), static_cast<const char*>(fixed.ptr));
}

}  // namespace

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::int16_t parse_int2(std::string_view text) { return parse_integer<std::int16_t>("smallint", text); }

std::int32_t parse_int4(std::string_view text) { return parse_integer<std::int32_t>("integer", text); }

std::int64_t parse_int8(std::string_view text) { return parse_integer<std::int64_t>("bigint", text); }

std::int32_t parse_oid(std::string_view text) {
  const std::string_view trimmed = trim_blanks(text);
  std::int64_t value = 0;
  const char* begin = trimmed.data();
  const char* const end = begin + trimmed.size();
  if (begin != end && *begin == '+' && trimmed.size() > 1 && begin[1] != '-') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range) throw_range("oid", text);
  if (error == std::errc::invalid_argument || stop != end) throw_syntax("oid", text);
  // strtoul's wrap of negative numbers is accepted as far as it fits 32 bits with sign.
  if (value > std::numeric_limits<std::uint32_t>::max() || value < std::numeric_limits<std::int32_t>::min())
    throw_range("oid", text);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

float parse_float4(std::string_view text) { return parse_float<float>("real", text); }

double parse_float8(std::string_view text) { return parse_float<double>("double precision", text); }

bool parse_bool(std::string_view text) {
  const std::string_view trimmed = trim_blanks(text);
  // Unique prefixes of true, false, yes, no, on, off; 1 and 0.
  const auto is_prefix_of = [&](std::string_view word, std::size_t least) {
    return trimmed.size() >= least && trimmed.size() <= word.size() &&
           equals_ignoring_case(trimmed, word.substr(0, trimmed.size()));
  };
  if (is_prefix_of("true", 1) || is_prefix_of("yes", 1) || is_prefix_of("on", 2) || trimmed == "1") return true;
  if (is_prefix_of("false", 1) || is_prefix_of("no", 1) || is_prefix_of("off", 2) || trimmed == "0") return false;
  throw_syntax("boolean", text);
}

void append_integer(std::int64_t value, std::string& out) {
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(static_cast<const char*>(buffer), static_cast<const char*>(result.ptr));
}

void append_float4(float value, int extra_float_digits, std::string& out) {
  append_float(value, extra_float_digits, out);
}

void append_float8(double value, int extra_float_digits, std::string& out) {
  append_float(value, extra_float_digits, out);
}

}  // namespace redquel::sql
