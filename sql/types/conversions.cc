#include "sql/types/conversions.h"

#include <cmath>
#include <limits>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/compare.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

template <class Integer>
constexpr std::string_view kIntegerName = "bigint";
template <>
constexpr std::string_view kIntegerName<std::int16_t> = "smallint";
template <>
constexpr std::string_view kIntegerName<std::int32_t> = "integer";

template <class Integer>
[[noreturn]] void throw_range() {
  throw number_out_of_range(kIntegerName<Integer>);
}

template <class To, class From>
To narrow(From value) {
  if (value < std::numeric_limits<To>::min() || value > std::numeric_limits<To>::max()) throw_range<To>();
  return static_cast<To>(value);
}

/// Rounds halves to even. The bound is a power of two, exact in every floating-point type.
template <class To, class From>
To round_to_integer(From value) {
  const From rounded = std::rint(value);
  const From bound = -static_cast<From>(std::numeric_limits<To>::min());
  if (!(rounded >= -bound && rounded < bound)) throw_range<To>();
  return static_cast<To>(rounded);
}

}  // namespace

std::int16_t int2_from(std::int32_t value) { return narrow<std::int16_t>(value); }
std::int16_t int2_from(std::int64_t value) { return narrow<std::int16_t>(value); }
std::int16_t int2_from(float value) { return round_to_integer<std::int16_t>(value); }
std::int16_t int2_from(double value) { return round_to_integer<std::int16_t>(value); }
std::int16_t int2_from(const Numeric& value) { return value.to_int16(); }
std::int32_t int4_from(std::int16_t value) { return value; }
std::int32_t int4_from(std::int64_t value) { return narrow<std::int32_t>(value); }
std::int32_t int4_from(float value) { return round_to_integer<std::int32_t>(value); }
std::int32_t int4_from(double value) { return round_to_integer<std::int32_t>(value); }
std::int32_t int4_from(const Numeric& value) { return value.to_int32(); }
std::int32_t int4_from(bool value) { return value ? 1 : 0; }
std::int64_t int8_from(std::int16_t value) { return value; }
std::int64_t int8_from(std::int32_t value) { return value; }
std::int64_t int8_from(float value) { return round_to_integer<std::int64_t>(value); }
std::int64_t int8_from(double value) { return round_to_integer<std::int64_t>(value); }
std::int64_t int8_from(const Numeric& value) { return value.to_int64(); }
float float4_from(std::int16_t value) { return static_cast<float>(value); }
float float4_from(std::int32_t value) { return static_cast<float>(value); }
float float4_from(std::int64_t value) { return static_cast<float>(value); }

float float4_from(double value) {
  const auto result = static_cast<float>(value);
  if (std::isinf(result) && !std::isinf(value)) throw float_overflow();
  if (result == 0 && value != 0) throw float_underflow();
  return result;
}

float float4_from(const Numeric& value) { return value.to_float(); }
double float8_from(std::int16_t value) { return value; }
double float8_from(std::int32_t value) { return value; }
double float8_from(std::int64_t value) { return static_cast<double>(value); }
double float8_from(float value) { return value; }
double float8_from(const Numeric& value) { return value.to_double(); }
Numeric numeric_from(std::int16_t value) { return Numeric(value); }
Numeric numeric_from(std::int32_t value) { return Numeric(value); }
Numeric numeric_from(std::int64_t value) { return Numeric(value); }
Numeric numeric_from(float value) { return Numeric::from_float(value); }
Numeric numeric_from(double value) { return Numeric::from_double(value); }
bool bool_from(std::int32_t value) { return value != 0; }

std::int32_t oid_from(std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) throw SqlError(sqlstate::kNumericValueOutOfRange, "OID out of range");
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

std::int64_t int8_from_oid(std::int32_t value) { return static_cast<std::uint32_t>(value); }

std::int32_t date_from_timestamp(std::int64_t timestamp) {
  if (timestamp == kTimestampInfinity) return kDateInfinity;
  if (timestamp == kTimestampNegativeInfinity) return kDateNegativeInfinity;
  const std::int64_t days = timestamp / kMicrosecondsPerDay;
  return static_cast<std::int32_t>(timestamp % kMicrosecondsPerDay < 0 ? days - 1 : days);
}

std::int32_t date_from_timestamptz(std::int64_t timestamptz, const TimeZone& zone) {
  if (!is_finite_timestamp(timestamptz)) return date_from_timestamp(timestamptz);
  return date_from_timestamp(timestamptz + zone.at(timestamptz).offset * kMicrosecondsPerSecond);
}

std::int64_t timestamp_from_timestamptz(std::int64_t timestamptz, const TimeZone& zone) {
  return local_from_timestamptz(timestamptz, zone);
}

std::int64_t timestamptz_from_timestamp(std::int64_t timestamp, const TimeZone& zone) {
  return timestamptz_from_local(timestamp, zone);
}

std::int64_t timestamptz_from_date(std::int32_t date, const TimeZone& zone) {
  const std::int64_t midnight = timestamp_from_date(date);
  if (!is_finite_timestamp(midnight)) return midnight;
  const std::int64_t result = midnight - zone.offset_of_local(midnight) * kMicrosecondsPerSecond;
  if (result < kMinTimestamp || result >= kEndTimestamp) throw SqlError(sqlstate::kDatetimeFieldOverflow, "date out of range for timestamp");
  return result;
}

std::optional<std::int64_t> time_from_timestamp(std::int64_t timestamp) {
  if (!is_finite_timestamp(timestamp)) return std::nullopt;
  const std::int64_t time = timestamp % kMicrosecondsPerDay;
  return time < 0 ? time + kMicrosecondsPerDay : time;
}

std::optional<std::int64_t> time_from_timestamptz(std::int64_t timestamptz, const TimeZone& zone) {
  if (!is_finite_timestamp(timestamptz)) return std::nullopt;
  return time_from_timestamp(timestamptz + zone.at(timestamptz).offset * kMicrosecondsPerSecond);
}

std::int64_t time_from_interval(const Interval& interval) {
  const std::int64_t time = interval.microseconds % kMicrosecondsPerDay;
  return time < 0 ? time + kMicrosecondsPerDay : time;
}

Interval interval_from_time(std::int64_t time) { return {time, 0, 0}; }

std::string text_from_bpchar(std::string_view value) { return std::string(without_trailing_blanks(value)); }

std::string text_from_bool(bool value) { return value ? "true" : "false"; }

std::string name_from_text(std::string_view value) {
  constexpr std::size_t kMaxNameLength = 63;
  return std::string(utf8_clip(value, kMaxNameLength));
}

std::string char_from_text(std::string_view text) {
  const auto octal = [&](std::size_t at, char largest) { return text[at] >= '0' && text[at] <= largest; };
  if (text.size() == 4 && text[0] == '\\' && octal(1, '3') && octal(2, '7') && octal(3, '7')) {
    const int byte = (text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0');
    return byte == 0 ? std::string() : std::string(1, static_cast<char>(byte));
  }
  return std::string(text.substr(0, 1));
}

}  // namespace redquel::sql
