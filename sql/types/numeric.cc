#include "sql/types/numeric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/big_integer.h"
#include "sql/types/number_text.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

[[noreturn]] void throw_syntax(std::string_view text) {
  throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for type numeric: \"{}\"", text));
}

/// The limit of 131072 digits in bits: below it no count of digits is needed.
constexpr unsigned kSafeBits = 435'000;

}  // namespace

void throw_overflow() { throw SqlError(sqlstate::kNumericValueOutOfRange, "value overflows numeric format"); }

cpp_int power_of_ten(std::size_t exponent) {
  if (exponent < kPowers.size()) return cpp_int(kPowers[exponent]);
  return boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(exponent));
}

std::size_t decimal_digits(const cpp_int& value) {
  if (value.is_zero()) return 0;
  cpp_int magnitude = value;
  if (magnitude.sign() < 0) magnitude.backend().negate();
  const std::size_t bits = boost::multiprecision::msb(magnitude);
  // 2^bits <= magnitude < 2^(bits+1): the estimate is right or one too small.
  const auto estimate = static_cast<std::size_t>(static_cast<double>(bits) * 0.30102999566398119521);
  std::size_t digits = estimate;
  cpp_int power = power_of_ten(estimate);
  while (power <= magnitude) ++digits, power *= 10;
  return digits;
}

namespace {

constexpr std::size_t kDirectDigits = 600;

/// Exactly `digits` digits of a value that has no more.
void append_digits(const cpp_int& value, std::size_t digits, std::string& out) {
  if (digits <= kDirectDigits) {
    const std::string text = value.str();
    out.append(digits - text.size(), '0');
    out += text;
    return;
  }
  const std::size_t low_digits = digits / 2;
  cpp_int high, low;
  boost::multiprecision::divide_qr(value, power_of_ten(low_digits), high, low);
  append_digits(high, digits - low_digits, out);
  append_digits(low, low_digits, out);
}

}  // namespace

std::string decimal_text(const cpp_int& value) {
  const std::size_t digits = decimal_digits(value);
  if (digits <= kDirectDigits) return value.str();
  std::string text(value.sign() < 0 ? "-" : "");
  append_digits(boost::multiprecision::abs(value), digits, text);
  return text;
}

cpp_int parse_decimal(std::string_view digits) {
  // A leading zero would make the library read octal.
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return 0;
  if (digits.size() <= kDirectDigits) return cpp_int(std::string(digits));
  const std::size_t low_digits = digits.size() / 2;
  return parse_decimal(digits.substr(0, digits.size() - low_digits)) * power_of_ten(low_digits) +
         parse_decimal(digits.substr(digits.size() - low_digits));
}

cpp_int divide_rounded(const cpp_int& value, const cpp_int& divisor) {
  cpp_int quotient, remainder;
  boost::multiprecision::divide_qr(value, divisor, quotient, remainder);
  remainder = boost::multiprecision::abs(remainder) * 2;
  if (remainder >= divisor) value.sign() < 0 ? --quotient : ++quotient;
  return quotient;
}

Numeric Numeric::nan() {
  Numeric result;
  result.kind_ = Kind::kNan;
  return result;
}

Numeric Numeric::infinity() {
  Numeric result;
  result.kind_ = Kind::kInfinity;
  return result;
}

Numeric Numeric::negative_infinity() {
  Numeric result;
  result.kind_ = Kind::kNegativeInfinity;
  return result;
}

Numeric Numeric::from_int128(Int128 unscaled, int scale) {
  if (unscaled >= std::numeric_limits<std::int64_t>::min() && unscaled <= std::numeric_limits<std::int64_t>::max())
    return Numeric(static_cast<std::int64_t>(unscaled), scale);
  return from_big(BigInteger{cpp_int(unscaled)}, scale);
}

Numeric Numeric::from_big(BigInteger unscaled, int scale) {
  cpp_int& value = unscaled.value;
  if (scale < 0) {
    if (!value.is_zero()) {
      if (-static_cast<std::int64_t>(scale) > kMaxIntegerDigits) throw_overflow();
      value *= power_of_ten(static_cast<std::size_t>(-scale));
    }
    scale = 0;
  }
  if (scale > kMaxScale) throw_overflow();
  Numeric result;
  result.scale_ = scale;
  if (value >= std::numeric_limits<std::int64_t>::min() && value <= std::numeric_limits<std::int64_t>::max()) {
    result.small_ = value.convert_to<std::int64_t>();
    return result;
  }
  if (boost::multiprecision::msb(boost::multiprecision::abs(value)) > kSafeBits &&
      static_cast<std::int64_t>(decimal_digits(value)) - scale > kMaxIntegerDigits)
    throw_overflow();
  result.big_ = std::make_shared<const BigInteger>(std::move(unscaled));
  return result;
}

Numeric Numeric::from_double(double value) {
  if (std::isnan(value)) return nan();
  if (std::isinf(value)) return value > 0 ? infinity() : negative_infinity();
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, 14).ptr;
  // %.15g drops trailing zeros; they are not significant.
  Numeric parsed = parse({buffer, static_cast<std::size_t>(end - buffer)});
  return parsed.trimmed();
}

Numeric Numeric::from_float(float value) {
  if (std::isnan(value)) return nan();
  if (std::isinf(value)) return value > 0 ? infinity() : negative_infinity();
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, 5).ptr;
  return parse({buffer, static_cast<std::size_t>(end - buffer)}).trimmed();
}

Numeric Numeric::parse(std::string_view text) {
  const std::string_view trimmed = trim_blanks(text);
  const char* at = trimmed.data();
  const char* const end = at + trimmed.size();
  bool negative = false;
  if (at != end && (*at == '-' || *at == '+')) negative = *at++ == '-';

  // One pass collects up to 18 digits in a register; more digits go the long way.
  std::int64_t small = 0;
  int digits = 0;  // without leading zeros
  const char* const begin = at;
  while (at != end && is_digit(*at)) {
    if (digits < 18) small = small * 10 + (*at - '0');
    digits += digits != 0 || *at != '0';
    ++at;
  }
  std::ptrdiff_t seen = at - begin;
  std::int64_t scale = 0;
  if (at != end && *at == '.') {
    const char* const point = ++at;
    while (at != end && is_digit(*at)) {
      if (digits < 18) small = small * 10 + (*at - '0');
      digits += digits != 0 || *at != '0';
      ++at;
    }
    scale = at - point;
    seen += scale;
  }
  const char* const digits_end = at;
  if (seen == 0) {
    const std::string_view word(at, static_cast<std::size_t>(end - at));
    if (begin == trimmed.data() && equals_ignoring_case(trimmed, "nan")) return nan();
    if (digits_end == begin && (equals_ignoring_case(word, "infinity") || equals_ignoring_case(word, "inf")))
      return negative ? negative_infinity() : infinity();
    throw_syntax(text);
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    bool negative_exponent = false;
    if (at != end && (*at == '-' || *at == '+')) negative_exponent = *at++ == '-';
    if (at == end || !is_digit(*at)) throw_syntax(text);
    std::int64_t exponent = 0;
    while (at != end && is_digit(*at))
      exponent = std::min<std::int64_t>(exponent * 10 + (*at++ - '0'), 1'000'000'000'000);
    if (at != end) throw_syntax(text);
    if (exponent >= std::numeric_limits<int>::max() / 2) throw_overflow();
    scale += negative_exponent ? exponent : -exponent;
  }
  if (at != end) throw_syntax(text);

  if (digits <= 18) {
    if (negative) small = -small;
    if (scale >= 0 && scale <= kMaxScale) return Numeric(small, static_cast<int>(scale));
    if (scale < 0 && small == 0) return Numeric();
    if (scale > kMaxScale || scale < -kMaxIntegerDigits) throw_overflow();
    return from_big(BigInteger{cpp_int(small)}, static_cast<int>(scale));
  }
  if (scale > kMaxScale || digits - scale > kMaxIntegerDigits) throw_overflow();
  std::string plain;
  plain.reserve(static_cast<std::size_t>(digits));
  for (const char* c = begin; c != digits_end; ++c)
    if (*c != '.' && (!plain.empty() || *c != '0')) plain.push_back(*c);
  cpp_int value = parse_decimal(plain);
  if (negative) value = -value;
  return from_big(BigInteger{std::move(value)}, static_cast<int>(scale));
}

bool Numeric::is_integral() const { return is_finite() && min_scale() == 0; }

int Numeric::sign() const {
  switch (kind_) {
    case Kind::kNan:
    case Kind::kInfinity:
      return 1;
    case Kind::kNegativeInfinity:
      return -1;
    case Kind::kFinite:
      break;
  }
  if (big_ != nullptr) return big_->value.sign();
  return (small_ > 0) - (small_ < 0);
}

BigInteger Numeric::unscaled() const { return big_ != nullptr ? *big_ : BigInteger{cpp_int(small_)}; }

Numeric Numeric::trimmed() const {
  if (scale_ == 0 || !is_finite()) return *this;
  Numeric result = *this;
  if (big_ == nullptr) {
    while (result.scale_ > 0 && result.small_ % 10 == 0) result.small_ /= 10, --result.scale_;
    return result;
  }
  cpp_int value = big_->value;
  int scale = scale_;
  for (const int step : {1024, 128, 16, 1}) {
    const cpp_int power = power_of_ten(static_cast<std::size_t>(step));
    cpp_int quotient, remainder;
    while (scale >= step) {
      boost::multiprecision::divide_qr(value, power, quotient, remainder);
      if (!remainder.is_zero()) break;
      value = quotient;
      scale -= step;
    }
  }
  return from_big(BigInteger{std::move(value)}, scale);
}

int Numeric::min_scale() const { return trimmed().scale_; }

void Numeric::append_to(std::string& out) const {
  switch (kind_) {
    case Kind::kNan:
      out += "NaN";
      return;
    case Kind::kInfinity:
      out += "Infinity";
      return;
    case Kind::kNegativeInfinity:
      out += "-Infinity";
      return;
    case Kind::kFinite:
      break;
  }
  char buffer[24];
  std::string long_digits;
  std::string_view digits;
  if (big_ == nullptr) {
    digits = {buffer, static_cast<std::size_t>(std::to_chars(buffer, buffer + sizeof buffer, small_).ptr - buffer)};
  } else {
    long_digits = decimal_text(big_->value);
    digits = long_digits;
  }
  if (digits.front() == '-') {
    out.push_back('-');
    digits.remove_prefix(1);
  }
  const auto scale = static_cast<std::size_t>(scale_);
  if (scale == 0) {
    out += digits;
  } else if (digits.size() > scale) {
    out.append(digits, 0, digits.size() - scale);
    out.push_back('.');
    out.append(digits, digits.size() - scale);
  } else {
    out += "0.";
    out.append(scale - digits.size(), '0');
    out += digits;
  }
}

std::string Numeric::to_string() const {
  std::string out;
  append_to(out);
  return out;
}

namespace {

/// The value rounded to an integer of 64 bits, or an error that names the target type.
std::int64_t to_integer(const Numeric& value, std::string_view type, std::int64_t low, std::int64_t high) {
  if (value.is_nan()) throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot convert NaN to {}", type));
  if (value.is_infinite()) throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot convert infinity to {}", type));
  const std::optional<std::int64_t> integer =
      value.scale() == 0 ? value.small_unscaled() : value.rounded(0).small_unscaled();
  if (!integer || *integer < low || *integer > high) throw number_out_of_range(type);
  return *integer;
}

}  // namespace

std::int64_t Numeric::to_int64() const {
  using Limits = std::numeric_limits<std::int64_t>;
  return to_integer(*this, "bigint", Limits::min(), Limits::max());
}

std::int32_t Numeric::to_int32() const {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(to_integer(*this, "integer", Limits::min(), Limits::max()));
}

std::int16_t Numeric::to_int16() const {
  using Limits = std::numeric_limits<std::int16_t>;
  return static_cast<std::int16_t>(to_integer(*this, "smallint", Limits::min(), Limits::max()));
}

double Numeric::to_nearest_double() const {
  switch (kind_) {
    case Kind::kNan:
      return std::numeric_limits<double>::quiet_NaN();
    case Kind::kInfinity:
      return std::numeric_limits<double>::infinity();
    case Kind::kNegativeInfinity:
      return -std::numeric_limits<double>::infinity();
    case Kind::kFinite:
      break;
  }
  // Both operands exact: the division rounds once, so the result is the nearest double.
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (big_ == nullptr && small_ >= -kExact && small_ <= kExact && scale_ < 19)
    return static_cast<double>(small_) / static_cast<double>(kPowers[static_cast<std::size_t>(scale_)]);
  const std::string text = to_string();
  double result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (error == std::errc::result_out_of_range) {
    const bool large = static_cast<std::int64_t>(decimal_digits(unscaled().value)) > scale_;
    return sign() * (large ? std::numeric_limits<double>::infinity() : 0.0);
  }
  return result;
}

double Numeric::to_double() const {
  const double result = to_nearest_double();
  if (is_finite() && (std::isinf(result) || (result == 0 && !is_zero())))
    throw SqlError(sqlstate::kNumericValueOutOfRange, fmt::format("\"{}\" is out of range for type double precision", to_string()));
  return result;
}

float Numeric::to_float() const {
  switch (kind_) {
    case Kind::kNan:
      return std::numeric_limits<float>::quiet_NaN();
    case Kind::kInfinity:
      return std::numeric_limits<float>::infinity();
    case Kind::kNegativeInfinity:
      return -std::numeric_limits<float>::infinity();
    case Kind::kFinite:
      break;
  }
  const std::string text = to_string();
  float result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (error != std::errc() || (result == 0 && !is_zero()))
    throw SqlError(sqlstate::kNumericValueOutOfRange, fmt::format("\"{}\" is out of range for type real", text));
  return result;
}

Numeric Numeric::with_modifier(std::int32_t modifier) const {
  if (modifier < 4 || is_nan()) return *this;
  const std::int32_t packed = modifier - 4;
  const int precision = (packed >> 16) & 0xFFFF;
  const int scale = ((packed & 0x7FF) ^ 1024) - 1024;
  if (is_infinite())
    throw SqlError(sqlstate::kNumericValueOutOfRange, "numeric field overflow")
        .detail(fmt::format("A field with precision {}, scale {} cannot hold an infinite value.", precision, scale));
  Numeric result = rounded(scale);
  const int integer_digits = precision - scale;  // 10^that is the bound; negative for numeric(3,5)
  bool fits;
  if (result.big_ == nullptr && result.scale_ + integer_digits >= 19) {
    fits = true;
  } else if (result.is_zero()) {
    fits = true;
  } else {
    const int exponent = result.scale_ + integer_digits;
    if (exponent < 0) {
      fits = false;
    } else if (result.big_ == nullptr) {
      const std::int64_t bound = kPowers[static_cast<std::size_t>(exponent)];
      fits = result.small_ < bound && result.small_ > -bound;
    } else {
      fits = static_cast<int>(decimal_digits(result.big_->value)) <= exponent;
    }
  }
  if (!fits) {
    throw SqlError(sqlstate::kNumericValueOutOfRange, "numeric field overflow")
        .detail(fmt::format("A field with precision {}, scale {} must round to an absolute value less than {}{}.",
                            precision, scale, integer_digits != 0 ? "10^" : "",
                            integer_digits != 0 ? integer_digits : 1));
  }
  return result;
}

}  // namespace redquel::sql
