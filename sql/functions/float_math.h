#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace redquel::sql {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// float8's functions with PostgreSQL's domain, overflow and underflow errors (22003, 2201E, 2201F, 22012).

[[noreturn]] void throw_float_overflow();
[[noreturn]] void throw_float_underflow();
[[noreturn]] void throw_division_by_zero();
[[noreturn]] void throw_input_out_of_range();

template <class T>
T add_floats(T a, T b) {
  const T result = a + b;
  if (std::isinf(result) && !std::isinf(a) && !std::isinf(b)) throw_float_overflow();
  return result;
}
template <class T>
T subtract_floats(T a, T b) {
  const T result = a - b;
  if (std::isinf(result) && !std::isinf(a) && !std::isinf(b)) throw_float_overflow();
  return result;
}
template <class T>
T multiply_floats(T a, T b) {
  const T result = a * b;
  if (std::isinf(result) && !std::isinf(a) && !std::isinf(b)) throw_float_overflow();
  if (result == 0 && a != 0 && b != 0) throw_float_underflow();
  return result;
}
template <class T>
T divide_floats(T a, T b) {
  if (b == 0 && !std::isnan(a)) throw_division_by_zero();
  const T result = a / b;
  if (std::isinf(result) && !std::isinf(a)) throw_float_overflow();
  if (result == 0 && a != 0 && !std::isinf(b)) throw_float_underflow();
  return result;
}

double float_power(double base, double exponent);
double float_sqrt(double a);
double float_cbrt(double a);
double float_exp(double a);
double float_ln(double a);
double float_log10(double a);
double float_degrees(double a);
double float_radians(double a);
double float_sin(double a);
double float_cos(double a);
double float_tan(double a);
double float_cot(double a);
double float_asin(double a);
double float_acos(double a);
double float_sinh(double a);
double float_cosh(double a);
double float_acosh(double a);
double float_atanh(double a);
/// In degrees, exact where the answer is a nice number.
double float_sind(double a);
double float_cosd(double a);
double float_tand(double a);
double float_cotd(double a);
double float_asind(double a);
double float_acosd(double a);
double float_atand(double a);
double float_atan2d(double y, double x);
/// 2201G for bad bounds or counts.
std::int32_t float_width_bucket(double operand, double low, double high, std::int32_t count);

}  // namespace redquel::sql
