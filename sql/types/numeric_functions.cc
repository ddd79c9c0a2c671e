#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/big_integer.h"
#include "sql/types/numeric.h"
#include "sql/value_errors.h"

// Roots, exponentials and logarithms. The number of digits of a result follows PostgreSQL's rules, estimates included:
// they are visible. The digits themselves are computed in binary fixed point with guard bits and rounded once.
namespace redquel::sql {
namespace {

namespace mp = boost::multiprecision;

constexpr double kLog10OfE = 0.434294481903252, kLnOf10 = 2.302585092994046;
/// |x| from which exp(x) is out of reach.
constexpr double kMaxExponent = 6000;

int clamp_scale(int scale, std::initializer_list<int> at_least) {
  scale = std::max({scale, 0, std::max(at_least)});
  return std::min(scale, Numeric::kMaxDisplayScale);
}

/// log10 |value| of a finite value that is not 0, to about 15 digits.
double approximate_log10(const Numeric& value) {
  const cpp_int magnitude = mp::abs(value.unscaled().value);
  const std::size_t bits = mp::msb(magnitude);
  if (bits < 62) return std::log10(magnitude.convert_to<double>()) - value.scale();
  const std::size_t drop = bits - 61;
  const cpp_int top = magnitude >> drop;
  return std::log10(top.convert_to<double>()) + static_cast<double>(drop) * 0.30102999566398119521 - value.scale();
}

/// PostgreSQL's estimate of the decimal weight of ln(value).
int estimate_ln_weight(const Numeric& value) {
  if (value.sign() <= 0) return 0;
  const Numeric nine_tenths(9, 1), eleven_tenths(11, 1);
  if (value >= nine_tenths && value <= eleven_tenths) {  // ln(x) is about x - 1
    const LeadingGroup group = leading_group(value - Numeric(1));
    return group.digits == 0 ? 0 : group.weight * 4 + static_cast<int>(std::log10(group.digits));
  }
  return static_cast<int>(std::log10(std::fabs(approximate_log10(value) * kLnOf10)));
}

// ---- fixed point: an integer v stands for v / 2^bits
// --------------------------------------------------------------------

unsigned bits_for_digits(int digits) { return static_cast<unsigned>(std::max(digits, 0) * 3.3219280948873626) + 1; }

cpp_int to_fixed(const Numeric& value, unsigned bits) {
  return (value.unscaled().value << bits) / power_of_ten(static_cast<std::size_t>(value.scale()));
}

Numeric from_fixed(const cpp_int& value, unsigned bits, int scale) {
  return Numeric::from_big(
      BigInteger{divide_rounded(value * power_of_ten(static_cast<std::size_t>(scale)), cpp_int(1) << bits)}, scale);
}

/// atanh(1/n) by its series.
cpp_int atanh_of_inverse(unsigned n, unsigned bits) {
  cpp_int power = (cpp_int(1) << bits) / n, sum = power;
  const unsigned square = n * n;
  for (unsigned k = 3; !power.is_zero(); k += 2) {
    check_interrupts();
    power /= square;
    sum += power / k;
  }
  return sum;
}

/// Most of an exponential's time would go into this constant, so it is kept with the most bits that were asked for.
cpp_int fixed_ln2(unsigned bits) {
  constexpr unsigned kGuard = 64;
  thread_local cpp_int kept;
  thread_local unsigned kept_bits = 0;
  if (kept_bits < bits + kGuard) {
    // It may be cancelled, and other computations of the thread may have their turn meanwhile.
    const unsigned made_bits = bits + 4 * kGuard;
    cpp_int made = atanh_of_inverse(26, made_bits) * 18 - atanh_of_inverse(4801, made_bits) * 2 + atanh_of_inverse(8749, made_bits) * 8;
    if (made_bits <= kept_bits) return kept >> (kept_bits - bits);
    kept = std::move(made);
    kept_bits = made_bits;
  }
  return kept >> (kept_bits - bits);
}

/// e^x for |x| < 1: the argument is halved until the Taylor series is short, the result squared as often.
cpp_int fixed_exp(const cpp_int& x, unsigned bits) {
  const unsigned halvings = static_cast<unsigned>(std::sqrt(bits)) / 2 + 4;
  const unsigned work = bits + 2 * halvings + 32;
  const cpp_int argument = (x << (work - bits)) >> halvings;
  cpp_int sum = (cpp_int(1) << work) + argument, term = argument;
  for (unsigned k = 2; !term.is_zero() && term != -1; ++k) {
    check_interrupts();
    term = (term * argument) >> work;
    term /= k;
    sum += term;
  }
  for (unsigned i = 0; i < halvings; ++i) {
    check_interrupts();
    sum = (sum * sum) >> work;
  }
  return sum >> (work - bits);
}

/// ln(value) for a positive value: 2^k is split off, the rest found by Halley's iteration on exp, which triples the
/// digits.
cpp_int fixed_ln(const Numeric& value, unsigned bits) {
  const cpp_int numerator = value.unscaled().value, denominator = power_of_ten(static_cast<std::size_t>(value.scale()));
  long exponent = static_cast<long>(mp::msb(numerator)) - static_cast<long>(mp::msb(denominator));
  if (value >= Numeric(9, 1) && value <= Numeric(11, 1)) exponent = 0;  // no cancellation where ln is small
  const unsigned work = bits + 64;
  const long shift = static_cast<long>(work) - exponent;
  const cpp_int mantissa = shift >= 0 ? cpp_int((numerator << static_cast<unsigned>(shift)) / denominator)
                                      : cpp_int(numerator / (denominator << static_cast<unsigned>(-shift)));
  const double start = std::log(std::ldexp(cpp_int(mantissa >> (work - 60)).convert_to<double>(), -60));
  cpp_int y = static_cast<std::int64_t>(std::ldexp(start, 52));
  y <<= work - 52;
  for (unsigned exact = 40; exact < work + 8; exact *= 3) {
    const cpp_int e = fixed_exp(y, work);
    y += ((mantissa - e) << (work + 1)) / (mantissa + e);
  }
  return (y + fixed_ln2(work) * exponent) >> (work - bits);
}

/// e^value rounded to `scale` digits after the point.
Numeric exp_at_scale(const Numeric& value, int scale) {
  const double approximate = value.to_nearest_double();
  if (std::fabs(approximate) >= kMaxExponent) {
    if (approximate > 0) throw_overflow();
    return Numeric(0, scale);
  }
  const auto halvings = static_cast<long>(std::lround(approximate / 0.693147180559945309));
  const long wanted = static_cast<long>(bits_for_digits(scale + 12)) + halvings + 32;
  const auto bits = static_cast<unsigned>(std::max(wanted, 64L));
  const unsigned argument_bits = bits + 32;
  const cpp_int rest = to_fixed(value, argument_bits) - fixed_ln2(argument_bits) * halvings;
  const cpp_int result = fixed_exp(rest, argument_bits);
  if (halvings >= 0) return from_fixed(result << static_cast<unsigned>(halvings), argument_bits, scale);
  return from_fixed(result, argument_bits + static_cast<unsigned>(-halvings), scale);
}

void check_logarithm(const Numeric& value) {
  if (value.is_zero()) throw logarithm_of_zero();
  if (value.sign() < 0) throw logarithm_of_negative();
}

Numeric ln_at_scale(const Numeric& value, int scale) {
  check_logarithm(value);
  // ln(1 + 10^-n) lies next to a tie: n digits more than wanted decide it.
  const unsigned bits = bits_for_digits(scale + 12 + std::max(-estimate_ln_weight(value), 0));
  return from_fixed(fixed_ln(value, bits), bits, scale);
}

SqlError negative_power_of_zero() { return SqlError(sqlstate::kInvalidArgumentForPowerFunction, "zero raised to a negative power is undefined"); }

SqlError complex_result() {
  return SqlError(sqlstate::kInvalidArgumentForPowerFunction, "a negative number raised to a non-integer power yields a complex result");
}

bool is_odd(const Numeric& integral) { return !(integral % Numeric(2)).is_zero(); }

/// Computes the power if base or exponent is infinite (neither is NaN).
Numeric infinite_power(const Numeric& base, const Numeric& exponent) {
  if (base.is_zero() && exponent.sign() < 0) throw negative_power_of_zero();
  if (base.sign() < 0 && exponent.is_finite() && !exponent.is_integral()) throw complex_result();
  const Numeric one(1);
  if (base == one || exponent.is_zero()) return one;
  if (exponent.is_infinite()) {
    const int size = base.abs().compare(one);
    if (size == 0) return one;
    return (size > 0) == (exponent.sign() > 0) ? Numeric::infinity() : Numeric();
  }
  if (exponent.sign() < 0) return Numeric();
  return base.sign() < 0 && is_odd(exponent) ? Numeric::negative_infinity() : Numeric::infinity();
}

/// base^exponent where the exponent is an integer of 32 bits.
Numeric integer_power(const Numeric& base, std::int64_t exponent) {
  const int scale = clamp_scale(kMinSignificantDigits, {base.scale()});
  const double weight = base.is_zero() ? 0 : static_cast<double>(exponent) * approximate_log10(base);
  if (weight > Numeric::kMaxIntegerDigits) throw_overflow();
  if (weight + 1 < -scale) return Numeric(0, scale);
  if (exponent == 0) return Numeric(1).rounded(scale);
  if (base.is_zero()) {
    if (exponent < 0) throw division_by_zero();
    return Numeric(0, scale);
  }
  const auto count = static_cast<unsigned>(std::llabs(exponent));
  const bool negative = base.sign() < 0 && count % 2 == 1;
  const cpp_int magnitude = mp::abs(base.unscaled().value);
  const auto base_scale = static_cast<std::size_t>(base.scale());
  cpp_int result;
  if (mp::msb(magnitude) * count <= 500'000 && base_scale * count <= 150'000) {
    cpp_int numerator = mp::pow(magnitude, count), denominator = power_of_ten(base_scale * count);
    if (exponent < 0) numerator.swap(denominator);
    result = divide_rounded(numerator * power_of_ten(static_cast<std::size_t>(scale)), denominator);
  } else {
    // Binary floating point with enough bits that `count` roundings do not show.
    const int digits = std::max(0, 1 + scale + static_cast<int>(weight)) + 24;
    const unsigned bits = bits_for_digits(digits) + 64;
    const auto normalize = [bits](cpp_int& mantissa, long& shift) {
      const long excess = static_cast<long>(mp::msb(mantissa)) - static_cast<long>(bits);
      if (excess > 0) mantissa >>= static_cast<unsigned>(excess), shift += excess;
    };
    cpp_int square = (magnitude << (bits + 64)) / power_of_ten(base_scale), product = 1;
    long square_shift = -static_cast<long>(bits + 64), product_shift = 0;
    if (base_scale * 4 > mp::msb(magnitude)) {  // small bases need more room before the division
      const unsigned extra = static_cast<unsigned>(base_scale) * 4;
      square = (magnitude << (bits + 64 + extra)) / power_of_ten(base_scale);
      square_shift -= extra;
    }
    normalize(square, square_shift);
    for (unsigned rest = count;;) {
      if (rest & 1) {
        product *= square, product_shift += square_shift;
        normalize(product, product_shift);
      }
      if ((rest >>= 1) == 0) break;
      square *= square, square_shift *= 2;
      normalize(square, square_shift);
    }
    cpp_int numerator = product * power_of_ten(static_cast<std::size_t>(scale)), denominator = 1;
    if (exponent < 0) {
      numerator = power_of_ten(static_cast<std::size_t>(scale));
      denominator = product;
      product_shift = -product_shift;
    }
    if (product_shift >= 0) {
      numerator <<= static_cast<unsigned>(product_shift);
    } else {
      denominator <<= static_cast<unsigned>(-product_shift);
    }
    result = divide_rounded(numerator, denominator);
  }
  return Numeric::from_big(BigInteger{negative ? cpp_int(-result) : result}, scale);
}

}  // namespace

Numeric sqrt(const Numeric& a) {
  if (a.is_nan()) return a;
  if (a.sign() < 0) throw SqlError(sqlstate::kInvalidArgumentForPowerFunction, "cannot take square root of a negative number");
  if (a.is_infinite()) return a;
  const int weight = leading_group(a).weight * 4;
  const int result_digits = weight >= 0 ? weight / 2 + 1 : 1 - (1 - weight) / 2;
  const int scale = clamp_scale(kMinSignificantDigits - result_digits, {a.scale()});
  // One digit more than wanted, then rounded: a square root is never a tie unless it is exact.
  const int shift = 2 * (scale + 1) - a.scale();
  const cpp_int scaled = shift >= 0 ? cpp_int(a.unscaled().value * power_of_ten(static_cast<std::size_t>(shift)))
                                    : cpp_int(a.unscaled().value / power_of_ten(static_cast<std::size_t>(-shift)));
  if (scaled.is_zero()) return Numeric(0, scale);
  // Newton's iteration from above stops at the floor.
  cpp_int root = cpp_int(1) << (mp::msb(scaled) / 2 + 1);
  for (;;) {
    const cpp_int next = (root + scaled / root) >> 1;
    if (next >= root) break;
    root = next;
  }
  return Numeric::from_big(BigInteger{divide_rounded(root, 10)}, scale);
}

Numeric exp(const Numeric& a) {
  if (a.is_nan()) return a;
  if (a.is_infinite()) return a.sign() > 0 ? a : Numeric();
  const double weight = std::clamp(a.to_nearest_double() * kLog10OfE, -2000.0, 2000.0);
  return exp_at_scale(a, clamp_scale(kMinSignificantDigits - static_cast<int>(weight), {a.scale()}));
}

Numeric ln(const Numeric& a) {
  if (a.is_nan()) return a;
  if (a.is_infinite() && a.sign() > 0) return a;
  if (a.is_infinite()) throw logarithm_of_negative();
  return ln_at_scale(a, clamp_scale(kMinSignificantDigits - estimate_ln_weight(a), {a.scale()}));
}

Numeric log(const Numeric& base, const Numeric& a) {
  if (base.is_nan() || a.is_nan()) return Numeric::nan();
  if (base.is_finite() && a.is_finite()) {
    check_logarithm(base);
    check_logarithm(a);
  } else if (base.sign() < 0 || a.sign() < 0) {
    throw logarithm_of_negative();
  } else if (base.is_zero() || a.is_zero()) {
    throw logarithm_of_zero();
  }
  if (base.is_infinite()) return a.is_infinite() ? Numeric::nan() : Numeric();
  if (a.is_infinite()) return Numeric::infinity();
  const int base_weight = estimate_ln_weight(base), weight = estimate_ln_weight(a);
  const int scale = clamp_scale(kMinSignificantDigits - (weight - base_weight), {base.scale(), a.scale()});
  const int digits = scale + std::abs(weight) + 2 * std::abs(base_weight) + 24;
  const unsigned bits = bits_for_digits(digits);
  const cpp_int divisor = fixed_ln(base, bits);
  if (base == Numeric(1) || divisor.is_zero()) throw division_by_zero();
  const cpp_int quotient = (fixed_ln(a, bits) << bits) / divisor;
  return from_fixed(quotient, bits, scale);
}

Numeric power(const Numeric& base, const Numeric& exponent) {
  const Numeric one(1);
  if (base.is_nan() || exponent.is_nan()) {
    if (base.is_nan() ? exponent.is_zero() : base == one) return one;
    return Numeric::nan();
  }
  if (base.is_infinite() || exponent.is_infinite()) return infinite_power(base, exponent);
  if (base.is_zero() && exponent.sign() < 0) throw negative_power_of_zero();
  const bool integral = exponent.is_integral();
  if (integral) {
    const std::optional<std::int64_t> integer = exponent.trimmed().small_unscaled();
    if (integer && *integer >= std::numeric_limits<std::int32_t>::min() &&
        *integer <= std::numeric_limits<std::int32_t>::max())
      return integer_power(base, *integer);
  }
  if (base.is_zero()) return Numeric(0, kMinSignificantDigits);
  if (base.sign() < 0 && !integral) throw complex_result();
  const bool negative = base.sign() < 0 && is_odd(exponent);
  const Numeric magnitude = base.abs();

  // A first, coarse product gives the number of digits of the result.
  const int ln_weight = estimate_ln_weight(magnitude);
  const int coarse_scale = std::max(8 - ln_weight, 0);
  const double coarse = (ln_at_scale(magnitude, coarse_scale) * exponent).rounded(coarse_scale).to_nearest_double();
  if (std::fabs(coarse) > kMaxExponent / 3 * 3.01) {
    if (coarse > 0) throw_overflow();
    return Numeric(0, Numeric::kMaxDisplayScale);
  }
  const int weight = static_cast<int>(coarse * kLog10OfE);
  const int scale = clamp_scale(kMinSignificantDigits - weight, {base.scale(), exponent.scale()});
  const int digits =
      std::max(scale + weight, 0) - ln_weight + static_cast<int>(std::max(0.0, approximate_log10(exponent)));
  const Numeric product = ln_at_scale(magnitude, std::clamp(digits + 24, 0, Numeric::kMaxScale)) * exponent;
  const Numeric result = exp_at_scale(product, scale);
  return negative ? result.negated() : result;
}

Numeric factorial(std::int64_t n) {
  if (n < 0) throw SqlError(sqlstate::kNumericValueOutOfRange, "factorial of a negative number is undefined");
  constexpr std::int64_t kLargest = 32177;
  if (n > kLargest) throw_overflow();
  // Halves of the range are multiplied last, so that operands grow evenly.
  struct Range {
    static cpp_int product(std::int64_t first, std::int64_t last) {
      if (last - first < 8) {
        cpp_int result = 1;
        for (std::int64_t i = first; i <= last; ++i) result *= i;
        return result;
      }
      check_interrupts();
      const std::int64_t middle = first + (last - first) / 2;
      return product(first, middle) * product(middle + 1, last);
    }
  };
  return Numeric::from_big(BigInteger{Range::product(2, n)}, 0);
}

Numeric gcd(const Numeric& a, const Numeric& b) {
  if (!a.is_finite() || !b.is_finite()) return Numeric::nan();
  const int scale = std::max(a.scale(), b.scale());
  return Numeric::from_big(BigInteger{mp::gcd(a.rounded(scale).unscaled().value, b.rounded(scale).unscaled().value)},
                           scale);
}

Numeric lcm(const Numeric& a, const Numeric& b) {
  if (!a.is_finite() || !b.is_finite()) return Numeric::nan();
  const int scale = std::max(a.scale(), b.scale());
  if (a.is_zero() || b.is_zero()) return Numeric(0, scale);
  return Numeric::from_big(BigInteger{mp::lcm(a.rounded(scale).unscaled().value, b.rounded(scale).unscaled().value)},
                           scale);
}

std::int32_t width_bucket(const Numeric& operand, const Numeric& low, const Numeric& high, std::int32_t count) {
  const auto invalid = [](const char* message) { return SqlError(sqlstate::kInvalidArgumentForWidthBucketFunction, message); };
  if (count <= 0) throw invalid("count must be greater than zero");
  if (operand.is_nan() || low.is_nan() || high.is_nan())
    throw invalid("operand, lower bound, and upper bound cannot be NaN");
  if (low.is_infinite() || high.is_infinite()) throw invalid("lower and upper bounds must be finite");
  const int direction = low.compare(high);
  if (direction == 0) throw invalid("lower bound cannot equal upper bound");
  const bool ascending = direction < 0;
  if (ascending ? operand < low : operand > low) return 0;
  if (ascending ? operand >= high : operand <= high) {
    if (count == std::numeric_limits<std::int32_t>::max()) throw number_out_of_range("integer");
    return count + 1;
  }
  // A quotient that is rounded up to the count gives the bucket behind the last one, as PostgreSQL 15 has it.
  return ((operand - low) * Numeric(count) / (high - low) + Numeric(1)).floor().to_int32();
}

}  // namespace redquel::sql
