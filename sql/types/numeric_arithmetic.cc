#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "sql/error.h"
#include "sql/types/big_integer.h"
#include "sql/types/numeric.h"
#include "sql/value_errors.h"

// Comparison, rounding and the four operations. Each tries 64-bit arithmetic first and falls back to big integers when
// a builtin reports overflow.
namespace redquel::sql {
namespace {

constexpr int kGroupDigits = 4;
/// round() and trunc() clamp their scale to what a numeric can have.
constexpr int kMinRoundingScale = -Numeric::kMaxIntegerDigits - 1;

[[noreturn]] void throw_division_by_zero() { throw division_by_zero(); }

/// value × 10^shift, or false on overflow.
bool scale_up(std::int64_t value, int shift, std::int64_t& out) {
  if (shift >= static_cast<int>(kPowers.size())) return value == 0 ? (out = 0, true) : false;
  return !__builtin_mul_overflow(value, kPowers[static_cast<std::size_t>(shift)], &out);
}

cpp_int unscaled_at(const Numeric& value, int scale) {
  cpp_int result = value.unscaled().value;
  if (scale > value.scale()) result *= power_of_ten(static_cast<std::size_t>(scale - value.scale()));
  return result;
}

enum class Rounding { kHalfAway, kTruncate, kCeiling, kFloor };

Numeric round_to(const Numeric& value, int scale, Rounding rounding) {
  if (!value.is_finite()) return value;
  if (scale >= value.scale()) {  // only zeros are added
    const std::optional<std::int64_t> small = value.small_unscaled();
    std::int64_t shifted = 0;
    if (small && scale_up(*small, scale - value.scale(), shifted)) return Numeric(shifted, scale);
    return Numeric::from_big(BigInteger{unscaled_at(value, scale)}, scale);
  }
  const int drop = value.scale() - scale;  // digits that go
  const std::optional<std::int64_t> small = value.small_unscaled();
  if (small && drop < static_cast<int>(kPowers.size())) {
    const std::int64_t power = kPowers[static_cast<std::size_t>(drop)];
    std::int64_t quotient = *small / power;
    const std::int64_t remainder = *small % power;
    const std::int64_t magnitude = remainder < 0 ? -remainder : remainder;
    switch (rounding) {
      case Rounding::kHalfAway:
        if (magnitude >= power - magnitude) quotient += *small < 0 ? -1 : 1;
        break;
      case Rounding::kCeiling:
        quotient += remainder > 0;
        break;
      case Rounding::kFloor:
        quotient -= remainder < 0;
        break;
      case Rounding::kTruncate:
        break;
    }
    if (scale >= 0) return Numeric(quotient, scale);
    return Numeric::from_big(BigInteger{cpp_int(quotient)}, scale);
  }
  const cpp_int unscaled = value.unscaled().value;
  if (static_cast<std::size_t>(drop) > decimal_digits(unscaled) + 1 && rounding <= Rounding::kTruncate)
    return Numeric(0, std::max(scale, 0));
  const cpp_int power = power_of_ten(static_cast<std::size_t>(drop));
  cpp_int quotient, remainder;
  if (rounding == Rounding::kHalfAway) {
    quotient = divide_rounded(unscaled, power);
  } else {
    boost::multiprecision::divide_qr(unscaled, power, quotient, remainder);
    if (rounding == Rounding::kCeiling && remainder.sign() > 0) ++quotient;
    if (rounding == Rounding::kFloor && remainder.sign() < 0) --quotient;
  }
  return Numeric::from_big(BigInteger{std::move(quotient)}, scale);
}

}  // namespace

int Numeric::compare(const Numeric& other) const {
  if (is_finite() && other.is_finite()) {
    if (big_ == nullptr && other.big_ == nullptr) {
      if (scale_ == other.scale_) return (small_ > other.small_) - (small_ < other.small_);
      std::int64_t a = small_, b = other.small_;
      if (scale_ < other.scale_ ? scale_up(small_, other.scale_ - scale_, a)
                                : scale_up(other.small_, scale_ - other.scale_, b))
        return (a > b) - (a < b);
    }
    if (const int a = sign(), b = other.sign(); a != b) return a < b ? -1 : 1;
    const int scale = std::max(scale_, other.scale_);
    return unscaled_at(*this, scale).compare(unscaled_at(other, scale));
  }
  const auto rank = [](Kind kind) {
    switch (kind) {
      case Kind::kNegativeInfinity:
        return -1;
      case Kind::kFinite:
        return 0;
      case Kind::kInfinity:
        return 1;
      case Kind::kNan:
        break;
    }
    return 2;
  };
  return rank(kind_) - rank(other.kind_);
}

std::uint64_t Numeric::hash() const {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  if (!is_finite()) return kMultiplier * (2 + static_cast<std::uint64_t>(kind_));
  const Numeric canonical = trimmed();
  std::uint64_t bits = static_cast<std::uint64_t>(canonical.small_);
  if (canonical.big_ != nullptr) {
    const auto& backend = canonical.big_->value.backend();
    bits = canonical.big_->value.sign() < 0 ? 1 : 0;
    for (unsigned limb = 0; limb < backend.size(); ++limb)
      bits = (bits ^ (bits >> 29)) * kMultiplier + static_cast<std::uint64_t>(backend.limbs()[limb]);
  }
  bits = (bits ^ static_cast<std::uint64_t>(canonical.scale_)) * kMultiplier;
  return bits ^ (bits >> 32);
}

Numeric Numeric::negated() const {
  Numeric result = *this;
  switch (kind_) {
    case Kind::kNan:
      return result;
    case Kind::kInfinity:
      return negative_infinity();
    case Kind::kNegativeInfinity:
      return infinity();
    case Kind::kFinite:
      break;
  }
  if (big_ == nullptr && small_ != std::numeric_limits<std::int64_t>::min()) {
    result.small_ = -small_;
    return result;
  }
  return from_big(BigInteger{-unscaled().value}, scale_);
}

Numeric Numeric::abs() const { return sign() < 0 ? negated() : *this; }

Numeric Numeric::rounded(int scale) const {
  return round_to(*this, std::clamp(scale, kMinRoundingScale, kMaxScale), Rounding::kHalfAway);
}

Numeric Numeric::truncated(int scale) const {
  return round_to(*this, std::clamp(scale, kMinRoundingScale, kMaxScale), Rounding::kTruncate);
}

Numeric Numeric::ceiling() const { return round_to(*this, 0, Rounding::kCeiling); }

Numeric Numeric::floor() const { return round_to(*this, 0, Rounding::kFloor); }

Numeric operator+(const Numeric& a, const Numeric& b) {
  if (a.is_finite() && b.is_finite()) {
    const int scale = std::max(a.scale_, b.scale_);
    if (a.big_ == nullptr && b.big_ == nullptr) {
      std::int64_t x = 0, y = 0, sum = 0;
      if (scale_up(a.small_, scale - a.scale_, x) && scale_up(b.small_, scale - b.scale_, y) &&
          !__builtin_add_overflow(x, y, &sum))
        return Numeric(sum, scale);
    }
    return Numeric::from_big(BigInteger{unscaled_at(a, scale) + unscaled_at(b, scale)}, scale);
  }
  if (a.is_nan() || b.is_nan()) return Numeric::nan();
  if (a.is_infinite() && b.is_infinite()) return a.kind_ == b.kind_ ? a : Numeric::nan();
  return a.is_infinite() ? a : b;
}

Numeric operator-(const Numeric& a, const Numeric& b) {
  if (a.is_finite() && b.is_finite() && a.big_ == nullptr && b.big_ == nullptr) {
    const int scale = std::max(a.scale_, b.scale_);
    std::int64_t x = 0, y = 0, difference = 0;
    if (scale_up(a.small_, scale - a.scale_, x) && scale_up(b.small_, scale - b.scale_, y) &&
        !__builtin_sub_overflow(x, y, &difference))
      return Numeric(difference, scale);
  }
  return a + b.negated();
}

Numeric operator*(const Numeric& a, const Numeric& b) {
  if (a.is_finite() && b.is_finite()) {
    const int scale = a.scale_ + b.scale_;
    std::int64_t product = 0;
    if (scale <= Numeric::kMaxScale && a.big_ == nullptr && b.big_ == nullptr &&
        !__builtin_mul_overflow(a.small_, b.small_, &product))
      return Numeric(product, scale);
    cpp_int exact = a.unscaled().value * b.unscaled().value;
    if (scale > Numeric::kMaxScale) {  // more digits than can be kept
      exact = divide_rounded(exact, power_of_ten(static_cast<std::size_t>(scale - Numeric::kMaxScale)));
      return Numeric::from_big(BigInteger{std::move(exact)}, Numeric::kMaxScale);
    }
    return Numeric::from_big(BigInteger{std::move(exact)}, scale);
  }
  if (a.is_nan() || b.is_nan() || a.is_zero() || b.is_zero()) return Numeric::nan();
  return a.sign() * b.sign() > 0 ? Numeric::infinity() : Numeric::negative_infinity();
}

LeadingGroup leading_group(const Numeric& value) {
  std::int64_t digits = 0;
  cpp_int magnitude;
  std::uint64_t small = 0;
  if (const std::optional<std::int64_t> unscaled = value.small_unscaled()) {
    if (*unscaled == 0) return {};
    small = *unscaled < 0 ? 0 - static_cast<std::uint64_t>(*unscaled) : static_cast<std::uint64_t>(*unscaled);
    for (std::uint64_t rest = small; rest != 0; rest /= 10) ++digits;
  } else {
    magnitude = boost::multiprecision::abs(value.unscaled().value);
    digits = static_cast<std::int64_t>(decimal_digits(magnitude));
  }
  const std::int64_t exponent = digits - 1 - value.scale();  // of the first digit
  const std::int64_t weight = (exponent >= 0 ? exponent : exponent - (kGroupDigits - 1)) / kGroupDigits;
  const std::int64_t wanted = exponent - weight * kGroupDigits + 1;  // digits in the first group: 1…4
  LeadingGroup group{.weight = static_cast<int>(weight)};
  if (magnitude.is_zero()) {
    for (; digits > wanted; --digits) small /= 10;
    for (; digits < wanted; ++digits) small *= 10;
    group.digits = static_cast<int>(small);
  } else if (digits > wanted) {
    const cpp_int first = magnitude / power_of_ten(static_cast<std::size_t>(digits - wanted));
    group.digits = first.convert_to<int>();
  }
  return group;
}

int division_scale(const Numeric& a, const Numeric& b) {
  const LeadingGroup dividend = leading_group(a), divisor = leading_group(b);
  int quotient_weight = dividend.weight - divisor.weight;
  if (dividend.digits <= divisor.digits) --quotient_weight;
  const int scale = std::max({kMinSignificantDigits - quotient_weight * kGroupDigits, a.scale(), b.scale(), 0});
  return std::min(scale, Numeric::kMaxDisplayScale);
}

Numeric divide_finite(const Numeric& a, const Numeric& b, int scale, bool round) {
  // a / b = (ua / ub) × 10^(sb - sa); the quotient is wanted with `scale` digits after the point.
  const int shift = scale - a.scale() + b.scale();
  const std::optional<std::int64_t> x = a.small_unscaled(), y = b.small_unscaled();
  if (x && y && shift >= 0 && shift <= 18) {
    const Int128 numerator = static_cast<Int128>(*x) * kPowers[static_cast<std::size_t>(shift)];
    Int128 quotient = numerator / *y;
    Int128 remainder = numerator % *y;
    if (round) {
      if (remainder < 0) remainder = -remainder;
      const Int128 divisor = *y < 0 ? -static_cast<Int128>(*y) : *y;
      if (remainder * 2 >= divisor) quotient += (*x < 0) == (*y < 0) ? 1 : -1;
    }
    return Numeric::from_int128(quotient, scale);
  }
  cpp_int numerator = a.unscaled().value, denominator = b.unscaled().value;
  if (shift >= 0) {
    numerator *= power_of_ten(static_cast<std::size_t>(shift));
  } else {
    denominator *= power_of_ten(static_cast<std::size_t>(-shift));
  }
  if (denominator.sign() < 0) numerator = -numerator, denominator = -denominator;
  if (round) return Numeric::from_big(BigInteger{divide_rounded(numerator, denominator)}, scale);
  return Numeric::from_big(BigInteger{numerator / denominator}, scale);
}

Numeric operator/(const Numeric& a, const Numeric& b) {
  if (a.is_finite() && b.is_finite()) {
    if (b.is_zero()) throw_division_by_zero();
    return divide_finite(a, b, division_scale(a, b), true);
  }
  if (a.is_nan() || b.is_nan()) return Numeric::nan();
  if (a.is_finite()) return Numeric();
  if (b.is_infinite()) return Numeric::nan();
  if (b.is_zero()) throw_division_by_zero();
  return a.sign() * b.sign() > 0 ? Numeric::infinity() : Numeric::negative_infinity();
}

Numeric divide_truncated(const Numeric& a, const Numeric& b) {
  if (!a.is_finite() || !b.is_finite()) return a / b;
  if (b.is_zero()) throw_division_by_zero();
  return divide_finite(a, b, 0, false);
}

Numeric operator%(const Numeric& a, const Numeric& b) {
  if (a.is_nan() || b.is_nan()) return Numeric::nan();
  if (b.is_zero()) throw_division_by_zero();
  if (a.is_infinite()) return Numeric::nan();
  if (b.is_infinite()) return a;
  const int scale = std::max(a.scale(), b.scale());
  const std::optional<std::int64_t> x = a.small_unscaled(), y = b.small_unscaled();
  std::int64_t dividend = 0, divisor = 0;
  if (x && y && scale_up(*x, scale - a.scale(), dividend) && scale_up(*y, scale - b.scale(), divisor))
    return Numeric(divisor == -1 ? 0 : dividend % divisor, scale);  // INT64_MIN % -1 traps
  return Numeric::from_big(BigInteger{unscaled_at(a, scale) % unscaled_at(b, scale)}, scale);
}

}  // namespace redquel::sql
