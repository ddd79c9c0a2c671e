#include "sql/functions/float_math.h"

#include <cfloat>
#include <limits>
#include <numbers>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

namespace redquel::sql {

void throw_float_overflow() { throw float_overflow(); }
void throw_float_underflow() { throw float_underflow(); }
void throw_division_by_zero() { throw division_by_zero(); }
void throw_input_out_of_range() { throw SqlError(sqlstate::kNumericValueOutOfRange, "input is out of range"); }

namespace {

constexpr double kRadiansPerDegree = 0.0174532925199432957692;

double finite_argument(double a) {
  if (std::isinf(a)) throw_input_out_of_range();
  return a;
}

double checked(double result) {
  if (std::isinf(result)) throw_float_overflow();
  return result;
}

/// pow() of an infinite exponent or base, where C libraries differ.
double infinite_power(double base, double exponent) {
  if (std::isinf(exponent)) {
    const double magnitude = std::fabs(base);
    if (magnitude == 1.0) return 1.0;
    return (exponent > 0) == (magnitude > 1.0) ? kInfinity : 0.0;
  }
  if (exponent == 0.0) return 1.0;
  if (base > 0) return exponent > 0 ? kInfinity : 0.0;
  const bool odd = std::fmod(exponent, 2.0) != 0.0;
  if (exponent > 0) return odd ? -kInfinity : kInfinity;
  return odd ? -0.0 : 0.0;
}

}  // namespace

double float_power(double base, double exponent) {
  if (std::isnan(base)) return exponent == 0.0 ? 1.0 : base;
  if (std::isnan(exponent)) return base == 1.0 ? 1.0 : exponent;
  if (base == 0 && exponent < 0) throw SqlError(sqlstate::kInvalidArgumentForPowerFunction, "zero raised to a negative power is undefined");
  if (base < 0 && std::floor(exponent) != exponent) {
    throw SqlError(sqlstate::kInvalidArgumentForPowerFunction, "a negative number raised to a non-integer power yields a complex result");
  }
  if (std::isinf(base) || std::isinf(exponent)) return infinite_power(base, exponent);
  const double result = std::pow(base, exponent);
  if (std::isinf(result)) throw_float_overflow();
  if (result == 0.0 && base != 0.0) throw_float_underflow();
  return result;
}

double float_sqrt(double a) {
  if (a < 0) throw SqlError(sqlstate::kInvalidArgumentForPowerFunction, "cannot take square root of a negative number");
  return std::sqrt(a);
}

double float_cbrt(double a) { return std::cbrt(a); }

double float_exp(double a) {
  if (std::isnan(a)) return a;
  if (std::isinf(a)) return a > 0 ? a : 0;
  const double result = checked(std::exp(a));
  if (result == 0.0) throw_float_underflow();
  return result;
}

namespace {

void check_logarithm(double a) {
  if (a == 0.0) throw logarithm_of_zero();
  if (a < 0) throw logarithm_of_negative();
}

}  // namespace

double float_ln(double a) {
  check_logarithm(a);
  return std::log(a);
}
double float_log10(double a) {
  check_logarithm(a);
  return std::log10(a);
}

double float_degrees(double a) { return divide_floats(a, kRadiansPerDegree); }
double float_radians(double a) { return multiply_floats(a, kRadiansPerDegree); }

double float_sin(double a) { return std::sin(finite_argument(a)); }
double float_cos(double a) { return std::cos(finite_argument(a)); }
double float_tan(double a) { return std::tan(finite_argument(a)); }
double float_cot(double a) { return 1.0 / std::tan(finite_argument(a)); }

double float_asin(double a) {
  if (a < -1.0 || a > 1.0) throw_input_out_of_range();
  return std::asin(a);
}
double float_acos(double a) {
  if (a < -1.0 || a > 1.0) throw_input_out_of_range();
  return std::acos(a);
}
double float_sinh(double a) { return std::sinh(a); }
double float_cosh(double a) { return std::cosh(a); }
double float_acosh(double a) {
  if (a < 1.0) throw_input_out_of_range();
  return std::acosh(a);
}
double float_atanh(double a) {
  if (a < -1.0 || a > 1.0) throw_input_out_of_range();
  if (a == -1.0) return -kInfinity;
  if (a == 1.0) return kInfinity;
  return std::atanh(a);
}

// ---- degrees: everything is scaled by what the C library answers at the points that must be exact -------------------

namespace {

// Volatile, so that the compiler does not compute them with another library than the one at run time.
volatile double degree_0_5 = 0.5, degree_1_0 = 1.0, degree_30 = 30.0, degree_45 = 45.0, degree_60 = 60.0;

struct DegreeConstants {
  double sin_30 = std::sin(degree_30 * kRadiansPerDegree);
  double one_minus_cos_60 = 1.0 - std::cos(degree_60 * kRadiansPerDegree);
  double asin_0_5 = std::asin(degree_0_5);
  double acos_0_5 = std::acos(degree_0_5);
  double atan_1_0 = std::atan(degree_1_0);
  double tan_45, cot_45;
  DegreeConstants();
};

const DegreeConstants& degrees() {
  static const DegreeConstants constants;
  return constants;
}

double sind_0_to_30(const DegreeConstants& c, double x) { return std::sin(x * kRadiansPerDegree) / c.sin_30 / 2.0; }
double cosd_0_to_60(const DegreeConstants& c, double x) {
  return 1.0 - ((1.0 - std::cos(x * kRadiansPerDegree)) / c.one_minus_cos_60) / 2.0;
}
double sind_q1(const DegreeConstants& c, double x) {
  return x <= 30.0 ? sind_0_to_30(c, x) : cosd_0_to_60(c, 90.0 - x);
}
double cosd_q1(const DegreeConstants& c, double x) {
  return x <= 60.0 ? cosd_0_to_60(c, x) : sind_0_to_30(c, 90.0 - x);
}

DegreeConstants::DegreeConstants()
    : tan_45(sind_q1(*this, degree_45) / cosd_q1(*this, degree_45)),
      cot_45(cosd_q1(*this, degree_45) / sind_q1(*this, degree_45)) {}

double asind_q1(double x) {
  if (x <= 0.5) return std::asin(x) / degrees().asin_0_5 * 30.0;
  return 90.0 - std::acos(x) / degrees().acos_0_5 * 60.0;
}
double acosd_q1(double x) {
  if (x <= 0.5) return 90.0 - std::asin(x) / degrees().asin_0_5 * 30.0;
  return std::acos(x) / degrees().acos_0_5 * 60.0;
}

/// An angle folded into the first quadrant. `crossed`: it was in the second or third, `mirrored`: below the axis.
struct Quadrant {
  double angle;
  bool negative, mirrored, crossed;
};
Quadrant fold(double a) {
  if (std::isinf(a)) throw_input_out_of_range();
  Quadrant q{std::fmod(a, 360.0), false, false, false};
  if (q.angle < 0.0) {
    q.angle = -q.angle;
    q.negative = true;
  }
  if (q.angle > 180.0) {
    q.angle = 360.0 - q.angle;
    q.mirrored = true;
  }
  if (q.angle > 90.0) {
    q.angle = 180.0 - q.angle;
    q.crossed = true;
  }
  return q;
}

double signed_by(bool negative, double value) { return negative ? -value : value; }

}  // namespace

double float_sind(double a) {
  if (std::isnan(a)) return kNan;
  const Quadrant q = fold(a);
  return signed_by(q.negative != q.mirrored, sind_q1(degrees(), q.angle));
}
double float_cosd(double a) {
  if (std::isnan(a)) return kNan;
  const Quadrant q = fold(a);
  return signed_by(q.crossed, cosd_q1(degrees(), q.angle));
}
double float_tand(double a) {
  if (std::isnan(a)) return kNan;
  const Quadrant q = fold(a);
  const double tangent = sind_q1(degrees(), q.angle) / cosd_q1(degrees(), q.angle);
  const double result = signed_by((q.negative != q.mirrored) != q.crossed, tangent / degrees().tan_45);
  return result == 0.0 ? 0.0 : result;
}
double float_cotd(double a) {
  if (std::isnan(a)) return kNan;
  const Quadrant q = fold(a);
  const double cotangent = cosd_q1(degrees(), q.angle) / sind_q1(degrees(), q.angle);
  const double result = signed_by((q.negative != q.mirrored) != q.crossed, cotangent / degrees().cot_45);
  return result == 0.0 ? 0.0 : result;
}
double float_asind(double a) {
  if (std::isnan(a)) return kNan;
  if (a < -1.0 || a > 1.0) throw_input_out_of_range();
  return a >= 0.0 ? asind_q1(a) : -asind_q1(-a);
}
double float_acosd(double a) {
  if (std::isnan(a)) return kNan;
  if (a < -1.0 || a > 1.0) throw_input_out_of_range();
  return a >= 0.0 ? acosd_q1(a) : 90.0 + asind_q1(-a);
}
double float_atand(double a) { return std::atan(a) / degrees().atan_1_0 * 45.0; }
double float_atan2d(double y, double x) { return std::atan2(y, x) / degrees().atan_1_0 * 45.0; }

// ---- width_bucket -----------------------------------------------------------------------------------------------

namespace {

/// The bucket of an operand within [from, to), for either direction of the bounds.
std::int32_t bucket_between(double operand, double from, double to, std::int32_t count) {
  double position;
  if (!std::isinf(to - from)) {
    position = count * ((operand - from) / (to - from));
  } else {
    position = count * ((operand / 2 - from / 2) / (to / 2 - from / 2));
  }
  // A quotient that is rounded up to 1 gives the bucket behind the last one, as PostgreSQL 15 has it.
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(position)) + 1);
}

std::int32_t bucket_above(std::int32_t count) {
  if (count == std::numeric_limits<std::int32_t>::max()) throw number_out_of_range("integer");
  return count + 1;
}

}  // namespace

std::int32_t float_width_bucket(double operand, double low, double high, std::int32_t count) {
  if (count <= 0) throw SqlError(sqlstate::kInvalidArgumentForWidthBucketFunction, "count must be greater than zero");
  if (std::isnan(operand) || std::isnan(low) || std::isnan(high)) {
    throw SqlError(sqlstate::kInvalidArgumentForWidthBucketFunction, "operand, lower bound, and upper bound cannot be NaN");
  }
  if (std::isinf(low) || std::isinf(high)) {
    throw SqlError(sqlstate::kInvalidArgumentForWidthBucketFunction, "lower and upper bounds must be finite");
  }
  if (low == high) throw SqlError(sqlstate::kInvalidArgumentForWidthBucketFunction, "lower bound cannot equal upper bound");
  if (low < high) {
    if (operand < low) return 0;
    if (operand >= high) return bucket_above(count);
  } else {
    if (operand > low) return 0;
    if (operand <= high) return bucket_above(count);
  }
  return bucket_between(operand, low, high, count);
}

}  // namespace redquel::sql
