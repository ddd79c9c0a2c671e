#include <fmt/format.h>

#include <limits>
#include <string>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"
#include "sql/value_errors.h"

// Dates, times and timestamps with intervals, and each other.
namespace redquel::sql {
namespace {

[[noreturn]] void throw_timestamp_range() { throw datetime_out_of_range("timestamp"); }

std::int64_t checked(Int128 timestamp) {
  if (timestamp < kMinTimestamp || timestamp >= kEndTimestamp) throw_timestamp_range();
  return static_cast<std::int64_t>(timestamp);
}

std::int64_t time_of(const CivilTime& civil) {
  return (civil.hour * 3600L + civil.minute * 60L + civil.second) * kMicrosecondsPerSecond + civil.microsecond;
}

/// A wall clock moved by months (to the last day of a shorter month), then by days. The result may be out of range.
Int128 add_months(Int128 local, std::int64_t months) {
  CivilTime civil = civil_from_timestamp(static_cast<std::int64_t>(local));
  const std::int64_t total = civil.year * std::int64_t{12} + (civil.month - 1) + months;
  const std::int64_t year = (total >= 0 ? total : total - 11) / 12;
  if (year < -4714 || year > 294'277) throw_timestamp_range();
  civil.year = static_cast<int>(year);
  civil.month = static_cast<int>(total - year * 12) + 1;
  civil.day = std::min(civil.day, days_in_month(civil.year, civil.month));
  return Int128{days_from_civil(civil.year, civil.month, civil.day)} * kMicrosecondsPerDay + time_of(civil);
}

Int128 local_to_utc(Int128 local, const TimeZone& zone) {
  return local - zone.offset_of_local(static_cast<std::int64_t>(local)) * kMicrosecondsPerSecond;
}

Int128 utc_to_local(std::int64_t timestamp, const TimeZone& zone) {
  return Int128{timestamp} + zone.at(timestamp).offset * kMicrosecondsPerSecond;
}

/// Each step of a zoned addition must give a valid timestamp, as each is one in PostgreSQL.
std::int64_t from_local_step(Int128 local, const TimeZone& zone) {
  checked(local);
  return checked(local_to_utc(local, zone));
}

}  // namespace

std::int32_t add_days(std::int32_t date, std::int32_t days) {
  if (!is_finite_date(date)) return date;
  const std::int64_t result = std::int64_t{date} + days;
  if (result < kMinDate || result >= kEndDate) throw datetime_out_of_range("date");
  return static_cast<std::int32_t>(result);
}

std::int32_t subtract_dates(std::int32_t a, std::int32_t b) {
  if (!is_finite_date(a) || !is_finite_date(b)) throw SqlError(sqlstate::kDatetimeFieldOverflow, "cannot subtract infinite dates");
  return a - b;
}

std::int64_t timestamp_from_date(std::int32_t date) {
  if (date == kDateInfinity) return kTimestampInfinity;
  if (date == kDateNegativeInfinity) return kTimestampNegativeInfinity;
  if (date >= kEndTimestamp / kMicrosecondsPerDay) throw SqlError(sqlstate::kDatetimeFieldOverflow, "date out of range for timestamp");
  return date * kMicrosecondsPerDay;
}

std::int64_t timestamp_from_date_and_time(std::int32_t date, std::int64_t time) {
  const std::int64_t midnight = timestamp_from_date(date);
  return is_finite_timestamp(midnight) ? checked(Int128{midnight} + time) : midnight;
}

namespace {

/// An interval's fields with room for the sign of the most negative ones.
struct Shift {
  explicit Shift(const Interval& interval, int sign = 1)
      : months(std::int64_t{interval.months} * sign),
        days(std::int64_t{interval.days} * sign),
        microseconds(Int128{interval.microseconds} * sign) {}
  std::int64_t months, days;
  Int128 microseconds;
};

std::int64_t add_shift(std::int64_t timestamp, const Shift& shift) {
  if (!is_finite_timestamp(timestamp)) return timestamp;
  Int128 result = timestamp;
  if (shift.months != 0) result = checked(add_months(result, shift.months));
  if (shift.days != 0) result = checked(result + Int128{shift.days} * kMicrosecondsPerDay);
  return checked(result + shift.microseconds);
}

std::int64_t add_shift(std::int64_t timestamp, const Shift& shift, const TimeZone& zone) {
  if (!is_finite_timestamp(timestamp)) return timestamp;
  if (shift.months != 0) timestamp = from_local_step(add_months(utc_to_local(timestamp, zone), shift.months), zone);
  if (shift.days != 0)
    timestamp = from_local_step(utc_to_local(timestamp, zone) + Int128{shift.days} * kMicrosecondsPerDay, zone);
  return checked(Int128{timestamp} + shift.microseconds);
}

}  // namespace

std::int64_t add_interval(std::int64_t timestamp, const Interval& interval) {
  return add_shift(timestamp, Shift(interval));
}

std::int64_t add_interval(std::int64_t timestamp, const Interval& interval, const TimeZone& zone) {
  return add_shift(timestamp, Shift(interval), zone);
}

std::int64_t subtract_interval(std::int64_t timestamp, const Interval& interval) {
  return add_shift(timestamp, Shift(interval, -1));
}

std::int64_t subtract_interval(std::int64_t timestamp, const Interval& interval, const TimeZone& zone) {
  return add_shift(timestamp, Shift(interval, -1), zone);
}

Interval subtract_timestamps(std::int64_t a, std::int64_t b) {
  if (!is_finite_timestamp(a) || !is_finite_timestamp(b))
    throw SqlError(sqlstate::kDatetimeFieldOverflow, "cannot subtract infinite timestamps");
  std::int64_t difference = 0;
  static_cast<void>(__builtin_sub_overflow(a, b, &difference));  // wraps around, as PostgreSQL's does
  return justify_hours({difference, 0, 0});
}

namespace {

/// Returns the time of the day in a sum that has wrapped around in 64 bits, as PostgreSQL's sums do.
std::int64_t time_within_day(std::uint64_t sum) {
  const std::int64_t result = static_cast<std::int64_t>(sum) % kMicrosecondsPerDay;
  return result < 0 ? result + kMicrosecondsPerDay : result;
}

}  // namespace

std::int64_t time_add_interval(std::int64_t time, const Interval& interval) {
  return time_within_day(static_cast<std::uint64_t>(time) + static_cast<std::uint64_t>(interval.microseconds));
}

std::int64_t time_subtract_interval(std::int64_t time, const Interval& interval) {
  return time_within_day(static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(interval.microseconds));
}

Interval subtract_times(std::int64_t a, std::int64_t b) { return {a - b, 0, 0}; }

namespace {

/// Returns the age of `later`; of `earlier`, with another sign, if it is `negative`.
Interval age_of(const CivilTime& later, const CivilTime& earlier, bool negative) {
  std::int64_t time = time_of(later) - time_of(earlier);
  int days = later.day - earlier.day;
  int months = (later.year - earlier.year) * 12 + later.month - earlier.month;
  if (time < 0) time += kMicrosecondsPerDay, --days;
  // A borrowed month has the days of the month that the earlier point lies in.
  while (days < 0) days += days_in_month(earlier.year, earlier.month), --months;
  if (negative) time = -time, days = -days, months = -months;
  return {time, days, months};
}

/// Returns the wall clock, also of infinity, which may be beyond what 64 bits count.
CivilTime wall_clock(std::int64_t timestamp, const TimeZone& zone) {
  constexpr std::int64_t kCycle = 146'097 * kMicrosecondsPerDay;  // of the calendar
  CivilTime civil = civil_from_timestamp(static_cast<std::int64_t>(utc_to_local(timestamp, zone) - kCycle));
  civil.year += 400;
  return civil;
}

}  // namespace

Interval age(std::int64_t a, std::int64_t b) {
  const CivilTime x = civil_from_timestamp(a), y = civil_from_timestamp(b);
  return a < b ? age_of(y, x, true) : age_of(x, y, false);
}

Interval age(std::int64_t a, std::int64_t b, const TimeZone& zone) {
  const CivilTime x = wall_clock(a, zone), y = wall_clock(b, zone);
  return a < b ? age_of(y, x, true) : age_of(x, y, false);
}

std::int64_t apply_timestamp_modifier(std::int64_t timestamp, std::int32_t modifier) {
  constexpr std::int64_t kUnits[] = {1'000'000, 100'000, 10'000, 1'000, 100, 10};
  if (modifier < 0 || modifier >= 6 || !is_finite_timestamp(timestamp)) return timestamp;
  const std::int64_t unit = kUnits[modifier];
  // Sums wrap around, as PostgreSQL's do.
  std::int64_t sum = 0;
  if (timestamp >= 0) {
    static_cast<void>(__builtin_add_overflow(timestamp, unit / 2, &sum));
    return sum / unit * unit;
  }
  static_cast<void>(__builtin_sub_overflow(unit / 2, timestamp, &sum));
  return -(sum / unit * unit);
}

std::int64_t apply_time_modifier(std::int64_t time, std::int32_t modifier) {
  return apply_timestamp_modifier(time, modifier);
}

// ---- time zones -----------------------------------------------------------------------------------------------------

std::int64_t timestamptz_from_local(std::int64_t timestamp, const TimeZone& zone) {
  return is_finite_timestamp(timestamp) ? checked(local_to_utc(timestamp, zone)) : timestamp;
}

std::int64_t local_from_timestamptz(std::int64_t timestamptz, const TimeZone& zone) {
  return is_finite_timestamp(timestamptz) ? checked(utc_to_local(timestamptz, zone)) : timestamptz;
}

namespace {

/// A zone, or an abbreviation with a fixed offset or a zone of its own; the search order of timezone().
struct NamedZone {
  const ZoneAbbreviation* abbreviation = nullptr;
  const TimeZone* zone = nullptr;
  std::string upper;

  explicit NamedZone(std::string_view name) {
    const std::string lower = lower_case(name);
    abbreviation = find_zone_abbreviation(lower);
    if (abbreviation == nullptr) {
      zone = &time_zone_named(name);
    } else if (!abbreviation->zone.empty()) {
      zone = find_time_zone(abbreviation->zone);
      upper = lower;
      for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    }
  }

  std::int32_t offset_at(std::int64_t timestamptz) const {
    if (zone == nullptr) return abbreviation->offset;
    if (abbreviation != nullptr)
      if (const auto meaning = zone->of_abbreviation(upper, timestamptz)) return meaning->offset;
    return zone->at(timestamptz).offset;
  }
  std::int32_t offset_of_local(std::int64_t local) const {
    if (zone == nullptr) return abbreviation->offset;
    const std::int32_t offset = zone->offset_of_local(local);
    return abbreviation != nullptr ? offset_at(local - offset * kMicrosecondsPerSecond) : offset;
  }
};

/// Seconds east of an interval zone, in 32 bits as PostgreSQL has them.
std::int64_t interval_offset(const Interval& zone) {
  if (zone.months != 0 || zone.days != 0) {
    std::string text;
    append_interval(zone, {}, text);
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("interval time zone \"{}\" must not include months or days", text));
  }
  return static_cast<std::int32_t>(zone.microseconds / kMicrosecondsPerSecond);
}

}  // namespace

std::int64_t timestamptz_from_local(std::int64_t timestamp, std::string_view zone) {
  if (!is_finite_timestamp(timestamp)) return timestamp;
  const NamedZone named(zone);
  return checked(Int128{timestamp} - named.offset_of_local(timestamp) * kMicrosecondsPerSecond);
}

std::int64_t local_from_timestamptz(std::int64_t timestamptz, std::string_view zone) {
  if (!is_finite_timestamp(timestamptz)) return timestamptz;
  const NamedZone named(zone);
  return checked(Int128{timestamptz} + named.offset_at(timestamptz) * kMicrosecondsPerSecond);
}

std::int64_t timestamptz_from_local(std::int64_t timestamp, const Interval& zone) {
  if (!is_finite_timestamp(timestamp)) return timestamp;
  return checked(Int128{timestamp} - Int128{interval_offset(zone)} * kMicrosecondsPerSecond);
}

std::int64_t local_from_timestamptz(std::int64_t timestamptz, const Interval& zone) {
  if (!is_finite_timestamp(timestamptz)) return timestamptz;
  return checked(Int128{timestamptz} + Int128{interval_offset(zone)} * kMicrosecondsPerSecond);
}

}  // namespace redquel::sql
