#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "sql/session_settings.h"
#include "sql/types/interval.h"
#include "sql/types/numeric.h"
#include "sql/types/time_zone.h"

namespace redquel::sql {

// Dates are days since 2000-01-01, times of day µs since midnight (24:00:00 included), timestamps µs since 2000-01-01
// 00:00 (timestamptz: of UTC). The extreme integers are ±infinity. PostgreSQL's manual 8.5 and appendix B describe the
// texts.

inline constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;
inline constexpr std::int64_t kMicrosecondsPerMinute = 60 * kMicrosecondsPerSecond;
inline constexpr std::int64_t kMicrosecondsPerHour = 60 * kMicrosecondsPerMinute;
inline constexpr std::int64_t kMicrosecondsPerDay = 24 * kMicrosecondsPerHour;
inline constexpr std::int32_t kDateInfinity = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int32_t kDateNegativeInfinity = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int64_t kTimestampInfinity = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kTimestampNegativeInfinity = std::numeric_limits<std::int64_t>::min();
/// 2000-01-01 as a Julian day, and as days and seconds since 1970.
inline constexpr std::int32_t kEpochJulian = 2451545;
inline constexpr std::int64_t kEpochUnixDays = 10957;
inline constexpr std::int64_t kEpochUnixSeconds = kEpochUnixDays * 86400;
/// First and first invalid values: 4714-11-24 BC up to the end of 5874897 (dates) or 294276 (timestamps).
inline constexpr std::int32_t kMinDate = -kEpochJulian, kEndDate = 2147483494 - kEpochJulian;
inline constexpr std::int64_t kMinTimestamp = -211813488000000000, kEndTimestamp = 9223371331200000000;

inline bool is_finite_date(std::int32_t date) { return date != kDateInfinity && date != kDateNegativeInfinity; }
inline bool is_finite_timestamp(std::int64_t ts) {
  return ts != kTimestampInfinity && ts != kTimestampNegativeInfinity;
}

// ---- calendar -----------------------------------------------------------------------------------------------------

/// A point in time taken apart. `year` is astronomical: 0 is 1 BC.
struct CivilTime {
  int year = 2000, month = 1, day = 1;
  int hour = 0, minute = 0, second = 0, microsecond = 0;
};
std::int32_t days_from_civil(int year, int month, int day);  // since 2000-01-01; no range check
CivilTime civil_from_days(std::int32_t days);
CivilTime civil_from_timestamp(std::int64_t timestamp);
bool is_leap_year(int year);
int days_in_month(int year, int month);
/// Microseconds since 1970 ↔ since 2000, and the clock.
std::int64_t current_timestamp();

// ---- text ---------------------------------------------------------------------------------------------------------

/// `now` is the transaction's timestamp that 'now', 'today'… stand for (absent: the clock). 22007 invalid input syntax,
/// 22008 field out of range (with the datestyle hint) in PostgreSQL's words. Blanks around are allowed.
using Now = std::optional<std::int64_t>;
std::int32_t parse_date(std::string_view text, const SessionSettings& settings, Now now = {});
std::int64_t parse_time(std::string_view text, const SessionSettings& settings, Now now = {});
std::int64_t parse_timestamp(std::string_view text, const SessionSettings& settings, Now now = {});
std::int64_t parse_timestamptz(std::string_view text, const SessionSettings& settings, Now now = {});
/// The modifier's fields give the unit of a bare number (INTERVAL '1' YEAR); rounding is left to `apply_…_modifier`.
Interval parse_interval(std::string_view text, const SessionSettings& settings, std::int32_t modifier = -1);

void append_date(std::int32_t date, const SessionSettings& settings, std::string& out);
void append_time(std::int64_t time, std::string& out);
void append_timestamp(std::int64_t timestamp, const SessionSettings& settings, std::string& out);
void append_timestamptz(std::int64_t timestamp, const SessionSettings& settings, std::string& out);
void append_interval(const Interval& interval, const SessionSettings& settings, std::string& out);

/// Rounding to a precision (modifier 0…6; -1: unchanged), and interval(p) or INTERVAL YEAR TO MONTH.
std::int64_t apply_time_modifier(std::int64_t time, std::int32_t modifier);
std::int64_t apply_timestamp_modifier(std::int64_t timestamp, std::int32_t modifier);
Interval apply_interval_modifier(const Interval& interval, std::int32_t modifier);

/// Bits of an interval modifier's upper half: the fields it keeps.
namespace interval_field {
inline constexpr int kMonth = 1 << 1, kYear = 1 << 2, kDay = 1 << 3, kHour = 1 << 10, kMinute = 1 << 11,
                     kSecond = 1 << 12, kAll = 0x7FFF, kFullPrecision = 0xFFFF;
}

// ---- comparison ---------------------------------------------------------------------------------------------------

/// Months folded into 30 days, days into 24 hours, as SQL compares them.
int compare_intervals(const Interval& a, const Interval& b);
Int128 folded_microseconds(const Interval& interval);

// ---- arithmetic (22008 out of range) --------------------------------------------------------------------------------

std::int32_t add_days(std::int32_t date, std::int32_t days);
std::int32_t subtract_dates(std::int32_t a, std::int32_t b);  // days; 22008 for infinities
std::int64_t timestamp_from_date(std::int32_t date);
std::int64_t timestamp_from_date_and_time(std::int32_t date, std::int64_t time);
/// timestamp ± interval; the zoned one adds months and days on the zone's wall clock.
std::int64_t add_interval(std::int64_t timestamp, const Interval& interval);
std::int64_t subtract_interval(std::int64_t timestamp, const Interval& interval);
std::int64_t add_interval(std::int64_t timestamp, const Interval& interval, const TimeZone& zone);
std::int64_t subtract_interval(std::int64_t timestamp, const Interval& interval, const TimeZone& zone);
/// Days and a remainder below a day, as timestamp - timestamp gives.
Interval subtract_timestamps(std::int64_t a, std::int64_t b);
std::int64_t time_add_interval(std::int64_t time, const Interval& interval);
std::int64_t time_subtract_interval(std::int64_t time, const Interval& interval);
Interval subtract_times(std::int64_t a, std::int64_t b);
Interval add_intervals(const Interval& a, const Interval& b);
Interval subtract_intervals(const Interval& a, const Interval& b);
Interval negate_interval(const Interval& interval);
Interval multiply_interval(const Interval& interval, double factor);
Interval divide_interval(const Interval& interval, double divisor);  // 22012
Interval justify_hours(const Interval& interval);
Interval justify_days(const Interval& interval);
Interval justify_interval(const Interval& interval);
/// Years, months, days and time between two points, on the calendar.
Interval age(std::int64_t a, std::int64_t b);
Interval age(std::int64_t a, std::int64_t b, const TimeZone& zone);

// ---- time zones ---------------------------------------------------------------------------------------------------

/// timestamp AT TIME ZONE → timestamptz and back. 22008 out of range.
std::int64_t timestamptz_from_local(std::int64_t timestamp, const TimeZone& zone);
std::int64_t local_from_timestamptz(std::int64_t timestamptz, const TimeZone& zone);
/// timezone(text, …): the text may be a zone, an abbreviation or an offset. 22023 `time zone "x" not recognized`.
std::int64_t timestamptz_from_local(std::int64_t timestamp, std::string_view zone);
std::int64_t local_from_timestamptz(std::int64_t timestamptz, std::string_view zone);
/// timezone(interval, …): 22023 "interval time zone … must not include months or days".
std::int64_t timestamptz_from_local(std::int64_t timestamp, const Interval& zone);
std::int64_t local_from_timestamptz(std::int64_t timestamptz, const Interval& zone);

// ---- fields (datetime_fields.cc) ------------------------------------------------------------------------------------

/// date_trunc(field, …): 22023 unit not recognized, 0A000 unit not supported.
std::int64_t truncate_timestamp(std::string_view field, std::int64_t timestamp);
std::int64_t truncate_timestamptz(std::string_view field, std::int64_t timestamptz, const TimeZone& zone);
Interval truncate_interval(std::string_view field, const Interval& interval);
/// date_part(field, …) as float8; nullopt is NULL (a field that infinity does not have).
std::optional<double> date_part_of_date(std::string_view field, std::int32_t date);
std::optional<double> date_part_of_time(std::string_view field, std::int64_t time);
/// The fields of `time with time zone` that do not depend on its zone; likewise extract_from_zoned_time().
std::optional<double> date_part_of_zoned_time(std::string_view field, std::int64_t time);
std::optional<double> date_part_of_timestamp(std::string_view field, std::int64_t timestamp);
std::optional<double> date_part_of_timestamptz(std::string_view field, std::int64_t timestamptz, const TimeZone& zone);
std::optional<double> date_part_of_interval(std::string_view field, const Interval& interval);
/// extract(field from …) as numeric.
std::optional<Numeric> extract_from_date(std::string_view field, std::int32_t date);
std::optional<Numeric> extract_from_time(std::string_view field, std::int64_t time);
std::optional<Numeric> extract_from_zoned_time(std::string_view field, std::int64_t time);
std::optional<Numeric> extract_from_timestamp(std::string_view field, std::int64_t timestamp);
std::optional<Numeric> extract_from_timestamptz(std::string_view field, std::int64_t timestamptz, const TimeZone& zone);
std::optional<Numeric> extract_from_interval(std::string_view field, const Interval& interval);
/// date_bin(stride, source, origin); the same for both kinds of timestamp.
std::int64_t date_bin(const Interval& stride, std::int64_t source, std::int64_t origin);

// ---- construction (22008 "date field value out of range: …")
// ------------------------------------------------------------

std::int32_t make_date(std::int32_t year, std::int32_t month, std::int32_t day);
std::int64_t make_time(std::int32_t hour, std::int32_t minute, double seconds);
std::int64_t make_timestamp(std::int32_t year, std::int32_t month, std::int32_t day, std::int32_t hour,
                            std::int32_t minute, double seconds);
std::int64_t make_timestamptz(std::int32_t year, std::int32_t month, std::int32_t day, std::int32_t hour,
                              std::int32_t minute, double seconds, const TimeZone& zone);
std::int64_t make_timestamptz(std::int32_t year, std::int32_t month, std::int32_t day, std::int32_t hour,
                              std::int32_t minute, double seconds, std::string_view zone);
Interval make_interval(std::int32_t years, std::int32_t months, std::int32_t weeks, std::int32_t days,
                       std::int32_t hours, std::int32_t minutes, double seconds);
/// to_timestamp(double): seconds since 1970; NaN and out of range 22008.
std::int64_t timestamptz_from_epoch(double seconds);

}  // namespace redquel::sql
