#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sql/session_settings.h"
#include "sql/types/datetime.h"
#include "sql/types/interval.h"
#include "sql/types/numeric.h"

namespace redquel::sql {

// Casts between types as plain functions over plain values; the cast table lists which of them are implicit. Casts from
// and to text are the types' input and output functions (text_io.h). Overflow: 22003 "integer out of range" and the
// like.

std::int16_t int2_from(std::int32_t value);
std::int16_t int2_from(std::int64_t value);
std::int16_t int2_from(float value);  // halves to even
std::int16_t int2_from(double value);
std::int16_t int2_from(const Numeric& value);  // halves away from zero
std::int32_t int4_from(std::int16_t value);
std::int32_t int4_from(std::int64_t value);
std::int32_t int4_from(float value);
std::int32_t int4_from(double value);
std::int32_t int4_from(const Numeric& value);
std::int32_t int4_from(bool value);
std::int64_t int8_from(std::int16_t value);
std::int64_t int8_from(std::int32_t value);
std::int64_t int8_from(float value);
std::int64_t int8_from(double value);
std::int64_t int8_from(const Numeric& value);
float float4_from(std::int16_t value);
float float4_from(std::int32_t value);
float float4_from(std::int64_t value);
float float4_from(double value);  // 22003 "value out of range: overflow"
float float4_from(const Numeric& value);
double float8_from(std::int16_t value);
double float8_from(std::int32_t value);
double float8_from(std::int64_t value);
double float8_from(float value);
double float8_from(const Numeric& value);
Numeric numeric_from(std::int16_t value);
Numeric numeric_from(std::int32_t value);
Numeric numeric_from(std::int64_t value);
Numeric numeric_from(float value);
Numeric numeric_from(double value);
bool bool_from(std::int32_t value);
/// oid's casts: int8 → oid 22003 "OID out of range".
std::int32_t oid_from(std::int64_t value);
std::int64_t int8_from_oid(std::int32_t value);

std::int32_t date_from_timestamp(std::int64_t timestamp);
std::int32_t date_from_timestamptz(std::int64_t timestamptz, const TimeZone& zone);
std::int64_t timestamp_from_timestamptz(std::int64_t timestamptz, const TimeZone& zone);
std::int64_t timestamptz_from_timestamp(std::int64_t timestamp, const TimeZone& zone);
std::int64_t timestamptz_from_date(std::int32_t date, const TimeZone& zone);
/// nullopt (NULL) for infinities.
std::optional<std::int64_t> time_from_timestamp(std::int64_t timestamp);
std::optional<std::int64_t> time_from_timestamptz(std::int64_t timestamptz, const TimeZone& zone);
std::int64_t time_from_interval(const Interval& interval);
Interval interval_from_time(std::int64_t time);

/// char(n) → text drops trailing blanks; boolean → text is "true" (its output function says "t").
std::string text_from_bpchar(std::string_view value);
std::string text_from_bool(bool value);
/// text → name: cut to 63 bytes at a character's end.
std::string name_from_text(std::string_view value);
/// text → "char": the first byte, or the one that \ooo says.
std::string char_from_text(std::string_view value);

}  // namespace redquel::sql
