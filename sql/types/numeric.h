#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace redquel::sql {

/// Integers beyond 64 bits, defined in big_integer.h so that Boost.Multiprecision stays out of everybody's headers.
struct BigInteger;

/// 128-bit integers are a GNU extension that -Wpedantic does not like to see by name.
__extension__ using Int128 = __int128;

/// PostgreSQL's numeric: an exact decimal `unscaled × 10^-scale`, or NaN, or ±Infinity.
///
/// The scale is also the *display scale*: 1.0 and 1.00 are equal and hash alike, but print as they were made. Values
/// are immutable and cheap to copy: the unscaled integer lies in 64 bits where it fits, else behind a shared pointer.
/// Limits: 131072 digits before the point, 16383 after it; beyond them 22003 "value overflows numeric format".
class Numeric {
 public:
  static constexpr int kMaxScale = 16383;  // stored digits after the point
  static constexpr int kMaxIntegerDigits = 131072;
  static constexpr int kMaxDisplayScale = 1000;  // what division, roots and logarithms produce

  Numeric() = default;  // 0
  explicit Numeric(std::int64_t unscaled, int scale = 0) : small_(unscaled), scale_(scale) {}
  static Numeric nan();
  static Numeric infinity();
  static Numeric negative_infinity();
  static Numeric from_int128(Int128 unscaled, int scale = 0);
  /// Checks the limits above (22003) and takes any scale, also a negative or too long one.
  static Numeric from_big(BigInteger unscaled, int scale);
  /// float8 → numeric keeps 15 significant digits, float4 → numeric 6; NaN and infinities are kept.
  static Numeric from_double(double value);
  static Numeric from_float(float value);
  /// PostgreSQL's input function, blanks around allowed: 22P02 invalid input syntax, 22003 out of range.
  static Numeric parse(std::string_view text);

  bool is_nan() const { return kind_ == Kind::kNan; }
  bool is_infinite() const { return kind_ == Kind::kInfinity || kind_ == Kind::kNegativeInfinity; }
  bool is_finite() const { return kind_ == Kind::kFinite; }
  bool is_zero() const { return is_finite() && !big_ && small_ == 0; }
  /// No digit but 0 after the point (false for NaN and infinities).
  bool is_integral() const;
  /// -1, 0 or 1; infinities have theirs, NaN gives 1 (it is above everything).
  int sign() const;
  /// Display scale: digits printed after the point. 0 for NaN and infinities.
  int scale() const { return scale_; }
  /// Digits after the point that are needed to show the value exactly.
  int min_scale() const;
  /// The unscaled integer where it fits 64 bits and the value is finite.
  std::optional<std::int64_t> small_unscaled() const {
    return is_finite() && !big_ ? std::optional(small_) : std::nullopt;
  }
  BigInteger unscaled() const;

  std::string to_string() const;
  void append_to(std::string& out) const;
  /// Rounded half away from zero. 22003 "bigint out of range"; 0A000 "cannot convert NaN to bigint".
  std::int64_t to_int64() const;
  std::int32_t to_int32() const;
  std::int16_t to_int16() const;
  /// Nearest double. 22003 where it overflows: `"1e400" is out of range for type double precision`.
  double to_double() const;
  float to_float() const;
  /// Like to_double(), but overflow gives ±infinity and underflow 0 (for index scores).
  double to_nearest_double() const;

  Numeric negated() const;
  Numeric abs() const;
  /// Half away from zero at `scale` digits after the point; negative: before it. Display scale max(scale, 0).
  Numeric rounded(int scale) const;
  Numeric truncated(int scale) const;
  Numeric ceiling() const;
  Numeric floor() const;
  /// Without trailing zeros after the point (trim_scale); equal values become identical.
  Numeric trimmed() const;
  /// numeric(p,s): rounds, then 22003 "numeric field overflow" with PostgreSQL's detail. -1: unchanged.
  Numeric with_modifier(std::int32_t modifier) const;

  /// Total order, NaN greatest and equal to itself.
  int compare(const Numeric& other) const;
  /// Equal values, equal hashes.
  std::uint64_t hash() const;

  friend bool operator==(const Numeric& a, const Numeric& b) { return a.compare(b) == 0; }
  friend std::weak_ordering operator<=>(const Numeric& a, const Numeric& b) { return a.compare(b) <=> 0; }

 private:
  enum class Kind : std::uint8_t { kFinite, kNan, kInfinity, kNegativeInfinity };

  friend Numeric operator+(const Numeric& a, const Numeric& b);
  friend Numeric operator-(const Numeric& a, const Numeric& b);
  friend Numeric operator*(const Numeric& a, const Numeric& b);

  std::int64_t small_ = 0;                 // the unscaled value unless big_
  std::shared_ptr<const BigInteger> big_;  // never holds what fits 64 bits
  std::int32_t scale_ = 0;
  Kind kind_ = Kind::kFinite;
};

/// PostgreSQL's operators: result scales, NaN and infinity rules, 22003 beyond the limits, 22012 "division by zero".
Numeric operator+(const Numeric& a, const Numeric& b);
Numeric operator-(const Numeric& a, const Numeric& b);
Numeric operator*(const Numeric& a, const Numeric& b);
/// At least 16 significant digits, as `/` prints them.
Numeric operator/(const Numeric& a, const Numeric& b);
/// Sign of the dividend.
Numeric operator%(const Numeric& a, const Numeric& b);
inline Numeric& operator+=(Numeric& a, const Numeric& b) { return a = a + b; }
/// Integer quotient, truncated: div(a, b).
Numeric divide_truncated(const Numeric& a, const Numeric& b);

/// Functions of numeric_functions.cc, digits as PostgreSQL prints them. 2201F for square roots and powers, 2201E for
/// logarithms outside of their domain.
Numeric sqrt(const Numeric& a);
Numeric exp(const Numeric& a);
Numeric ln(const Numeric& a);
/// Logarithm of `a` to `base`; log(a) of SQL has base 10.
Numeric log(const Numeric& base, const Numeric& a);
Numeric power(const Numeric& base, const Numeric& exponent);
Numeric factorial(std::int64_t n);
Numeric gcd(const Numeric& a, const Numeric& b);
Numeric lcm(const Numeric& a, const Numeric& b);
/// width_bucket(operand, low, high, count): 2201G.
std::int32_t width_bucket(const Numeric& operand, const Numeric& low, const Numeric& high, std::int32_t count);

}  // namespace redquel::sql
