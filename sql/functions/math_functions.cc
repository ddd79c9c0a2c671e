// Mathematical functions (manual 9.3), except the operators' own.

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/float_math.h"
#include "sql/functions/lift.h"
#include "sql/functions/random_generator.h"
#include "sql/sqlstate.h"
#include "sql/types/number_text.h"

namespace redquel::sql {
namespace {

template <class T>
[[noreturn]] void throw_integer_overflow() {
  throw SqlError(sqlstate::kNumericValueOutOfRange, sizeof(T) == 4 ? "integer out of range" : "bigint out of range");
}

template <class T>
T integer_gcd(T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto magnitude = [](T x) { return x < 0 ? Unsigned(0) - static_cast<Unsigned>(x) : static_cast<Unsigned>(x); };
  const Unsigned result = std::gcd(magnitude(a), magnitude(b));
  if (result > static_cast<Unsigned>(std::numeric_limits<T>::max())) throw_integer_overflow<T>();
  return static_cast<T>(result);
}

template <class T>
T integer_lcm(T a, T b) {
  if (a == 0 || b == 0) return 0;
  T result;
  if (__builtin_mul_overflow(a / integer_gcd(a, b), b, &result)) throw_integer_overflow<T>();
  if (result < 0) {
    if (result == std::numeric_limits<T>::min()) throw_integer_overflow<T>();
    result = static_cast<T>(-result);
  }
  return result;
}

double float_sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : 0; }
double round_even(double a) { return std::rint(a); }

RandomGenerator& generator(const EvaluationContext& context) {
  if (context.random != nullptr) return *context.random;
  thread_local RandomGenerator shared;
  return shared;
}

double random(const EvaluationContext& context) { return generator(context).next_double(); }

std::string_view set_seed(const EvaluationContext& context, double seed) {
  if (std::isnan(seed) || seed < -1 || seed > 1) {
    std::string text;
    fmt::format_to(std::back_inserter(text), "{:g}", seed);
    throw SqlError(sqlstate::kInvalidParameterValue, "setseed parameter " + text + " is out of allowed range [-1,1]");
  }
  generator(context).seed(seed);
  return "";
}

std::optional<std::int32_t> numeric_scale(const Numeric& a) {
  if (!a.is_finite()) return std::nullopt;
  return a.scale();
}
std::optional<std::int32_t> numeric_min_scale(const Numeric& a) {
  if (!a.is_finite()) return std::nullopt;
  return a.min_scale();
}
Numeric numeric_sign(const Numeric& a) { return a.is_nan() ? a : Numeric(a.sign()); }

void hex4(std::int32_t value, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{:x}", static_cast<std::uint32_t>(value));
}
void hex8(std::int64_t value, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{:x}", static_cast<std::uint64_t>(value));
}

std::vector<ScalarFunction> numeric_functions() {
  using N = Numeric;
  return {
      scalar<[](const N& a) { return a.ceiling(); }>("ceil", {kNumeric}, kNumeric),
      scalar<[](const N& a) { return a.ceiling(); }>("ceiling", {kNumeric}, kNumeric),
      scalar<[](const N& a) { return a.floor(); }>("floor", {kNumeric}, kNumeric),
      scalar<[](const N& a) { return a.rounded(0); }>("round", {kNumeric}, kNumeric),
      scalar<[](const N& a, std::int32_t scale) { return a.rounded(scale); }>("round", {kNumeric, kInt4}, kNumeric),
      scalar<[](const N& a) { return a.truncated(0); }>("trunc", {kNumeric}, kNumeric),
      scalar<[](const N& a, std::int32_t scale) { return a.truncated(scale); }>("trunc", {kNumeric, kInt4}, kNumeric),
      scalar<numeric_sign>("sign", {kNumeric}, kNumeric),
      scalar<[](const N& a) { return sqrt(a); }>("sqrt", {kNumeric}, kNumeric),
      scalar<[](const N& a) { return exp(a); }>("exp", {kNumeric}, kNumeric),
      scalar<[](const N& a) { return ln(a); }>("ln", {kNumeric}, kNumeric),
      scalar<[](const N& a) { return log(N(10), a); }>("log", {kNumeric}, kNumeric),
      scalar<[](const N& a) { return log(N(10), a); }>("log10", {kNumeric}, kNumeric),
      scalar<[](const N& base, const N& a) { return log(base, a); }>("log", {kNumeric, kNumeric}, kNumeric),
      scalar<[](const N& a, const N& b) { return power(a, b); }>("power", {kNumeric, kNumeric}, kNumeric),
      scalar<[](const N& a, const N& b) { return power(a, b); }>("pow", {kNumeric, kNumeric}, kNumeric),
      scalar<[](const N& a, const N& b) { return divide_truncated(a, b); }>("div", {kNumeric, kNumeric}, kNumeric),
      scalar<[](const N& a, const N& b) { return gcd(a, b); }>("gcd", {kNumeric, kNumeric}, kNumeric),
      scalar<[](const N& a, const N& b) { return lcm(a, b); }>("lcm", {kNumeric, kNumeric}, kNumeric),
      scalar<[](std::int64_t n) { return factorial(n); }>("factorial", {kInt8}, kNumeric),
      scalar<numeric_scale>("scale", {kNumeric}, kInt4),
      scalar<numeric_min_scale>("min_scale", {kNumeric}, kInt4),
      scalar<[](const N& a) { return a.trimmed(); }>("trim_scale", {kNumeric}, kNumeric),
      scalar<[](const N& a, const N& low, const N& high, std::int32_t count) {
        return width_bucket(a, low, high, count);
      }>("width_bucket", {kNumeric, kNumeric, kNumeric, kInt4}, kInt4),
  };
}

std::vector<ScalarFunction> trigonometric_functions() {
  return {
      scalar<float_sin>("sin", {kFloat8}, kFloat8),
      scalar<float_cos>("cos", {kFloat8}, kFloat8),
      scalar<float_tan>("tan", {kFloat8}, kFloat8),
      scalar<float_cot>("cot", {kFloat8}, kFloat8),
      scalar<float_asin>("asin", {kFloat8}, kFloat8),
      scalar<float_acos>("acos", {kFloat8}, kFloat8),
      scalar<[](double a) { return std::atan(a); }>("atan", {kFloat8}, kFloat8),
      scalar<[](double y, double x) { return std::atan2(y, x); }>("atan2", {kFloat8, kFloat8}, kFloat8),
      scalar<float_sind>("sind", {kFloat8}, kFloat8),
      scalar<float_cosd>("cosd", {kFloat8}, kFloat8),
      scalar<float_tand>("tand", {kFloat8}, kFloat8),
      scalar<float_cotd>("cotd", {kFloat8}, kFloat8),
      scalar<float_asind>("asind", {kFloat8}, kFloat8),
      scalar<float_acosd>("acosd", {kFloat8}, kFloat8),
      scalar<float_atand>("atand", {kFloat8}, kFloat8),
      scalar<float_atan2d>("atan2d", {kFloat8, kFloat8}, kFloat8),
      scalar<float_sinh>("sinh", {kFloat8}, kFloat8),
      scalar<float_cosh>("cosh", {kFloat8}, kFloat8),
      scalar<[](double a) { return std::tanh(a); }>("tanh", {kFloat8}, kFloat8),
      scalar<[](double a) { return std::asinh(a); }>("asinh", {kFloat8}, kFloat8),
      scalar<float_acosh>("acosh", {kFloat8}, kFloat8),
      scalar<float_atanh>("atanh", {kFloat8}, kFloat8),
  };
}

std::vector<ScalarFunction> float_functions() {
  return {
      scalar<[](double a) { return std::ceil(a); }>("ceil", {kFloat8}, kFloat8),
      scalar<[](double a) { return std::ceil(a); }>("ceiling", {kFloat8}, kFloat8),
      scalar<[](double a) { return std::floor(a); }>("floor", {kFloat8}, kFloat8),
      scalar<round_even>("round", {kFloat8}, kFloat8),
      scalar<round_even>("dround", {kFloat8}, kFloat8),
      scalar<[](double a) { return std::trunc(a); }>("trunc", {kFloat8}, kFloat8),
      scalar<float_sign>("sign", {kFloat8}, kFloat8),
      scalar<float_sqrt>("sqrt", {kFloat8}, kFloat8),
      scalar<float_cbrt>("cbrt", {kFloat8}, kFloat8),
      scalar<float_exp>("exp", {kFloat8}, kFloat8),
      scalar<float_ln>("ln", {kFloat8}, kFloat8),
      scalar<float_log10>("log", {kFloat8}, kFloat8),
      scalar<float_log10>("log10", {kFloat8}, kFloat8),
      scalar<float_power>("power", {kFloat8, kFloat8}, kFloat8),
      scalar<float_power>("pow", {kFloat8, kFloat8}, kFloat8),
      scalar<float_degrees>("degrees", {kFloat8}, kFloat8),
      scalar<float_radians>("radians", {kFloat8}, kFloat8),
      scalar<[] { return std::numbers::pi; }>("pi", {}, kFloat8),
      scalar<float_width_bucket>("width_bucket", {kFloat8, kFloat8, kFloat8, kInt4}, kInt4),
      scalar<random>("random", {}, kFloat8, Volatility::kVolatile),
      scalar<set_seed>("setseed", {kFloat8}, kVoid, Volatility::kVolatile),
      scalar<integer_gcd<std::int32_t>>("gcd", {kInt4, kInt4}, kInt4),
      scalar<integer_gcd<std::int64_t>>("gcd", {kInt8, kInt8}, kInt8),
      scalar<integer_lcm<std::int32_t>>("lcm", {kInt4, kInt4}, kInt4),
      scalar<integer_lcm<std::int64_t>>("lcm", {kInt8, kInt8}, kInt8),
      scalar<hex4>("to_hex", {kInt4}, kText),
      scalar<hex8>("to_hex", {kInt8}, kText),
  };
}

}  // namespace

std::vector<ScalarFunction> math_functions() {
  std::vector<ScalarFunction> table = float_functions();
  for (const std::vector<ScalarFunction>& part : {trigonometric_functions(), numeric_functions()}) {
    table.insert(table.end(), part.begin(), part.end());
  }
  return table;
}

}  // namespace redquel::sql
