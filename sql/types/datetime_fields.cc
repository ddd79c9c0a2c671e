#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"
#include "sql/types/datetime_tokens.h"
#include "sql/value_errors.h"

// date_trunc, date_part and extract. One table-like switch per family gives a field's value as PartValue, from which
// both results, float8 and numeric, are made.
namespace redquel::sql {
namespace {

constexpr std::string_view kDateName = "date", kTimeName = "time without time zone", kZonedTimeName = "time with time zone", kIntervalName = "interval",
                           kTimestampName = "timestamp without time zone",
                           kTimestamptzName = "timestamp with time zone";

struct Unit {
  std::string name;  // in lower case
  TokenValue value;
};

[[noreturn]] void throw_unknown(std::string_view name, std::string_view type) {
  throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("unit \"{}\" not recognized for type {}", name, type));
}

[[noreturn]] void throw_unsupported(std::string_view name, std::string_view type) {
  throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("unit \"{}\" not supported for type {}", name, type));
}

/// date_trunc knows the words of interval units only.
Unit truncation_unit(std::string_view field, std::string_view type) {
  std::string name = lower_case(field);
  const Token* token = find_unit_word(name);
  if (token == nullptr || token->kind != TokenKind::kUnit) throw_unknown(name, type);
  return {std::move(name), token->meaning()};
}

/// Returns the unit for extract: units, and words of dates (dow, julian, epoch).
Unit extraction_unit(std::string_view field, std::string_view type) {
  std::string name = lower_case(field);
  const Token* token = find_unit_word(name);
  if (token == nullptr) token = find_date_word(name);
  if (token == nullptr || (token->kind != TokenKind::kUnit && token->kind != TokenKind::kReserved))
    throw_unknown(name, type);
  return {std::move(name), token->meaning()};
}

std::int64_t first_year_of(std::int64_t year, std::int64_t size) {  // of its century or millennium
  return year > 0 ? (year + size - 1) / size * size - size + 1 : -((size - 1 - (year - 1)) / size) * size + 1;
}

/// Monday of the ISO week of a day.
std::int32_t monday_of(std::int32_t days) {
  return days - ((days + 5) % 7 + 7) % 7;  // 2000-01-03 was a Monday
}

/// Truncates a wall clock, which may be out of range. `moves_day` is set if days or larger units were cut, so that the
/// zone's offset may differ.
std::int64_t truncate_local(const Unit& unit, std::int64_t local, std::string_view type, bool& moves_day) {
  CivilTime civil = civil_from_timestamp(local);
  std::int64_t year = civil.year;
  int month = 1, day = 1;
  std::int64_t cut = 0;
  moves_day = false;
  switch (unit.value) {
    case TokenValue::kMicrosecond:
      return local;
    case TokenValue::kMillisecond:
      cut = 1000;
      break;
    case TokenValue::kSecond:
      cut = kMicrosecondsPerSecond;
      break;
    case TokenValue::kMinute:
      cut = kMicrosecondsPerMinute;
      break;
    case TokenValue::kHour:
      cut = kMicrosecondsPerHour;
      break;
    case TokenValue::kMillennium:
      year = first_year_of(year, 1000);
      break;
    case TokenValue::kCentury:
      year = first_year_of(year, 100);
      break;
    case TokenValue::kDecade:
      year = year > 0 ? year / 10 * 10 : -((8 - (year - 1)) / 10) * 10;
      break;
    case TokenValue::kYear:
      break;
    case TokenValue::kQuarter:
      month = (civil.month - 1) / 3 * 3 + 1;
      break;
    case TokenValue::kMonth:
      month = civil.month;
      break;
    case TokenValue::kWeek:
    case TokenValue::kDay:
      month = civil.month, day = civil.day;
      break;
    default:
      throw_unsupported(unit.name, type);
  }
  if (cut != 0) {
    const std::int64_t rest = local % cut;
    return local - (rest < 0 ? rest + cut : rest);
  }
  moves_day = true;
  std::int32_t days = days_from_civil(static_cast<int>(year), month, day);
  if (unit.value == TokenValue::kWeek) days = monday_of(days);
  return days * kMicrosecondsPerDay;
}

// ---- date_part and extract ------------------------------------------------------------------------------------------

/// A field's value: an integer; micro units with a scale; a Julian day with its time; or an infinity. `real` is the
/// float8 where PostgreSQL adds it up from parts, which shows in the last digit.
struct PartValue {
  enum class Kind : std::uint8_t { kScaled, kJulian, kInfinite } kind = Kind::kScaled;
  Int128 number = 0;  // × 10^-scale; the sign of an infinity; the Julian day
  int scale = 0;
  std::int64_t time = 0;  // of a Julian day
  std::optional<double> real = {};
};

PartValue whole(std::int64_t value) { return {.number = value}; }
PartValue scaled(Int128 value, int scale, std::optional<double> real = {}) {
  return {.number = value, .scale = scale, .real = real};
}

double to_double(const PartValue& part) {
  switch (part.kind) {
    case PartValue::Kind::kInfinite:
      return part.number < 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    case PartValue::Kind::kJulian: {
      const double seconds = static_cast<double>(part.time / kMicrosecondsPerSecond) +
                             static_cast<double>(part.time % kMicrosecondsPerSecond) / 1e6;
      return static_cast<double>(part.number) + seconds / 86400.0;
    }
    case PartValue::Kind::kScaled:
      break;
  }
  if (part.real) return *part.real;
  const auto value = static_cast<double>(part.number);
  return part.scale == 6 ? value / 1e6 : part.scale == 3 ? value / 1e3 : value;
}

Numeric to_numeric(const PartValue& part) {
  switch (part.kind) {
    case PartValue::Kind::kInfinite:
      return part.number < 0 ? Numeric::negative_infinity() : Numeric::infinity();
    case PartValue::Kind::kJulian:
      return Numeric::from_int128(part.number) + Numeric(part.time) / Numeric(kMicrosecondsPerDay);
    case PartValue::Kind::kScaled:
      break;
  }
  return Numeric::from_int128(part.number, part.scale);
}

std::optional<double> to_double(const std::optional<PartValue>& part) {
  return part ? std::optional(to_double(*part)) : std::nullopt;
}

std::optional<Numeric> to_numeric(const std::optional<PartValue>& part) {
  return part ? std::optional(to_numeric(*part)) : std::nullopt;
}

/// Seconds and what is smaller.
std::optional<PartValue> part_below_minute(TokenValue unit, std::int64_t microseconds) {
  const auto seconds = static_cast<double>(microseconds / kMicrosecondsPerSecond);
  const auto rest = static_cast<double>(microseconds % kMicrosecondsPerSecond);
  switch (unit) {
    case TokenValue::kMicrosecond:
      return whole(microseconds);
    case TokenValue::kMillisecond:
      return scaled(microseconds, 3, seconds * 1000.0 + rest / 1e3);
    case TokenValue::kSecond:
      return scaled(microseconds, 6, seconds + rest / 1e6);
    default:
      return std::nullopt;
  }
}

struct IsoWeek {
  int year, week;
};

IsoWeek iso_week_of(std::int32_t days) {
  const int year = civil_from_days(monday_of(days) + 3).year;  // a week belongs to the year of its Thursday
  const std::int32_t first_monday = monday_of(days_from_civil(year, 1, 4));
  return {year, (days - first_monday) / 7 + 1};
}

int without_year_zero(int year) { return year > 0 ? year : year - 1; }

/// Fields that a date has.
std::optional<PartValue> part_of_day(TokenValue unit, std::int32_t days) {
  const CivilTime civil = civil_from_days(days);
  const std::int64_t year = civil.year;
  const int weekday = ((days + 6) % 7 + 7) % 7;  // 2000-01-01 was a Saturday
  switch (unit) {
    case TokenValue::kDay:
      return whole(civil.day);
    case TokenValue::kMonth:
      return whole(civil.month);
    case TokenValue::kQuarter:
      return whole((civil.month - 1) / 3 + 1);
    case TokenValue::kWeek:
      return whole(iso_week_of(days).week);
    case TokenValue::kYear:
      return whole(without_year_zero(civil.year));
    case TokenValue::kDecade:
      return whole(year >= 0 ? year / 10 : -((8 - (year - 1)) / 10));
    case TokenValue::kCentury:
      return whole(year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100));
    case TokenValue::kMillennium:
      return whole(year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000));
    case TokenValue::kIsoYear:
      return whole(without_year_zero(iso_week_of(days).year));
    case TokenValue::kDayOfWeek:
      return whole(weekday);
    case TokenValue::kIsoDayOfWeek:
      return whole(weekday == 0 ? 7 : weekday);
    case TokenValue::kDayOfYear:
      return whole(days - days_from_civil(civil.year, 1, 1) + 1);
    default:
      return std::nullopt;
  }
}

/// Fields of infinity that grow without bound are infinite, those that go round are NULL. False: the type lacks the
/// field.
bool part_of_infinity(TokenValue unit, bool positive, bool has_time, std::optional<PartValue>& out) {
  out.reset();
  switch (unit) {
    case TokenValue::kYear:
    case TokenValue::kDecade:
    case TokenValue::kCentury:
    case TokenValue::kMillennium:
    case TokenValue::kJulian:
    case TokenValue::kIsoYear:
    case TokenValue::kEpoch:
      out = PartValue{.kind = PartValue::Kind::kInfinite, .number = positive ? 1 : -1};
      return true;
    case TokenValue::kDay:
    case TokenValue::kMonth:
    case TokenValue::kQuarter:
    case TokenValue::kWeek:
    case TokenValue::kDayOfWeek:
    case TokenValue::kIsoDayOfWeek:
    case TokenValue::kDayOfYear:
      return true;
    case TokenValue::kMicrosecond:
    case TokenValue::kMillisecond:
    case TokenValue::kSecond:
    case TokenValue::kMinute:
    case TokenValue::kHour:
    case TokenValue::kZone:
    case TokenValue::kZoneHour:
    case TokenValue::kZoneMinute:
      return has_time;
    default:
      return false;
  }
}

std::optional<PartValue> part_of_date(std::string_view field, std::int32_t date) {
  const Unit unit = extraction_unit(field, kDateName);
  std::optional<PartValue> part;
  if (!is_finite_date(date)) {
    if (!part_of_infinity(unit.value, date == kDateInfinity, false, part)) throw_unsupported(unit.name, kDateName);
    return part;
  }
  if (unit.value == TokenValue::kJulian) return whole(std::int64_t{date} + kEpochJulian);
  if (unit.value == TokenValue::kEpoch) return whole((date + kEpochUnixDays) * 86400);
  part = part_of_day(unit.value, date);
  if (!part) throw_unsupported(unit.name, kDateName);
  return part;
}

std::optional<PartValue> part_of_time(std::string_view field, std::int64_t time, std::string_view type = kTimeName) {
  const Unit unit = extraction_unit(field, type);
  if (auto part = part_below_minute(unit.value, time % kMicrosecondsPerMinute)) return part;
  switch (unit.value) {
    case TokenValue::kMinute:
      return whole(time / kMicrosecondsPerMinute % 60);
    case TokenValue::kHour:
      return whole(time / kMicrosecondsPerHour);
    case TokenValue::kEpoch:
      return scaled(time, 6);
    default:
      break;
  }
  if (find_unit_word(unit.name) == nullptr && find_date_word(unit.name)->kind == TokenKind::kReserved)
    throw_unknown(unit.name, type);
  throw_unsupported(unit.name, type);
}

/// `zone` is null for a timestamp without one; `local` is the wall clock.
std::optional<PartValue> part_of_timestamp(const Unit& unit, std::int64_t timestamp, std::int64_t local,
                                           const std::int32_t* offset, std::string_view type) {
  std::int64_t days = local / kMicrosecondsPerDay, time = local % kMicrosecondsPerDay;
  if (time < 0) time += kMicrosecondsPerDay, --days;
  if (auto part = part_below_minute(unit.value, time % kMicrosecondsPerMinute)) return part;
  switch (unit.value) {
    case TokenValue::kMinute:
      return whole(time / kMicrosecondsPerMinute % 60);
    case TokenValue::kHour:
      return whole(time / kMicrosecondsPerHour);
    case TokenValue::kJulian:
      return PartValue{.kind = PartValue::Kind::kJulian, .number = days + kEpochJulian, .time = time};
    case TokenValue::kEpoch:
      return scaled(Int128{timestamp} + kEpochUnixSeconds * kMicrosecondsPerSecond, 6);
    case TokenValue::kZone:
      if (offset != nullptr) return whole(*offset);
      break;
    case TokenValue::kZoneHour:
      if (offset != nullptr) return whole(*offset / 3600);
      break;
    case TokenValue::kZoneMinute:
      if (offset != nullptr) return whole(*offset / 60 % 60);
      break;
    default:
      if (auto part = part_of_day(unit.value, static_cast<std::int32_t>(days))) return part;
  }
  throw_unsupported(unit.name, type);
}

std::optional<PartValue> part_of_timestamp(std::string_view field, std::int64_t timestamp) {
  const Unit unit = extraction_unit(field, kTimestampName);
  std::optional<PartValue> part;
  if (is_finite_timestamp(timestamp)) return part_of_timestamp(unit, timestamp, timestamp, nullptr, kTimestampName);
  if (!part_of_infinity(unit.value, timestamp == kTimestampInfinity, true, part))
    throw_unsupported(unit.name, kTimestampName);
  return part;
}

std::optional<PartValue> part_of_timestamptz(std::string_view field, std::int64_t timestamptz, const TimeZone& zone) {
  const Unit unit = extraction_unit(field, kTimestamptzName);
  std::optional<PartValue> part;
  if (is_finite_timestamp(timestamptz)) {
    const std::int32_t offset = zone.at(timestamptz).offset;
    return part_of_timestamp(unit, timestamptz, timestamptz + offset * kMicrosecondsPerSecond, &offset,
                             kTimestamptzName);
  }
  if (!part_of_infinity(unit.value, timestamptz == kTimestampInfinity, true, part))
    throw_unsupported(unit.name, kTimestamptzName);
  return part;
}

std::optional<PartValue> part_of_interval(std::string_view field, const Interval& interval) {
  const Unit unit = extraction_unit(field, kIntervalName);
  if (auto part = part_below_minute(unit.value, interval.microseconds % kMicrosecondsPerMinute)) return part;
  const int years = interval.months / 12, months = interval.months % 12;
  switch (unit.value) {
    case TokenValue::kMinute:
      return whole(interval.microseconds / kMicrosecondsPerMinute % 60);
    case TokenValue::kHour:
      return whole(interval.microseconds / kMicrosecondsPerHour);
    case TokenValue::kDay:
      return whole(interval.days);
    case TokenValue::kMonth:
      return whole(months);
    case TokenValue::kQuarter:
      return whole(months / 3 + 1);
    case TokenValue::kYear:
      return whole(years);
    case TokenValue::kDecade:
      return whole(years / 10);
    case TokenValue::kCentury:
      return whole(years / 100);
    case TokenValue::kMillennium:
      return whole(years / 1000);
    case TokenValue::kEpoch: {
      constexpr std::int64_t kQuarterDaysPerYear = 1461;  // a year has 365.25 days here
      const Int128 quarter_days = kQuarterDaysPerYear * years + 120 * months + Int128{4} * interval.days;
      const double real = static_cast<double>(interval.microseconds) / 1e6 + 365.25 * 86400 * years +
                          30.0 * 86400 * months + 86400.0 * interval.days;
      return scaled(quarter_days * (86400 / 4) * kMicrosecondsPerSecond + interval.microseconds, 6, real);
    }
    default:
      break;
  }
  if (find_unit_word(unit.name) == nullptr && find_date_word(unit.name)->kind == TokenKind::kReserved)
    throw_unknown(unit.name, kIntervalName);
  throw_unsupported(unit.name, kIntervalName);
}

}  // namespace

std::int64_t truncate_timestamp(std::string_view field, std::int64_t timestamp) {
  if (!is_finite_timestamp(timestamp)) return timestamp;
  bool moves_day = false;
  const std::int64_t result = truncate_local(truncation_unit(field, kTimestampName), timestamp, kTimestampName, moves_day);
  if (result < kMinTimestamp || result >= kEndTimestamp) throw datetime_out_of_range("timestamp");
  return result;
}

std::int64_t truncate_timestamptz(std::string_view field, std::int64_t timestamptz, const TimeZone& zone) {
  if (!is_finite_timestamp(timestamptz)) return timestamptz;
  const Unit unit = truncation_unit(field, kTimestamptzName);
  const std::int64_t offset = zone.at(timestamptz).offset * kMicrosecondsPerSecond;
  bool moves_day = false;
  const std::int64_t local = truncate_local(unit, timestamptz + offset, kTimestamptzName, moves_day);
  if (moves_day) return timestamptz_from_local(local, zone);
  return local - offset;
}

Interval truncate_interval(std::string_view field, const Interval& interval) {
  const Unit unit = truncation_unit(field, kIntervalName);
  Interval result = interval;
  const auto cut_time = [&](std::int64_t size) { result.microseconds = result.microseconds / size * size; };
  const auto cut_months = [&](int size) {
    result.months = result.months / size * size;
    result.days = 0;
    result.microseconds = 0;
  };
  switch (unit.value) {
    case TokenValue::kMillennium:
      cut_months(12'000);
      break;
    case TokenValue::kCentury:
      cut_months(1'200);
      break;
    case TokenValue::kDecade:
      cut_months(120);
      break;
    case TokenValue::kYear:
      cut_months(12);
      break;
    case TokenValue::kQuarter:
      cut_months(3);
      break;
    case TokenValue::kMonth:
      cut_months(1);
      break;
    case TokenValue::kDay:
      result.microseconds = 0;
      break;
    case TokenValue::kHour:
      cut_time(kMicrosecondsPerHour);
      break;
    case TokenValue::kMinute:
      cut_time(kMicrosecondsPerMinute);
      break;
    case TokenValue::kSecond:
      cut_time(kMicrosecondsPerSecond);
      break;
    case TokenValue::kMillisecond:
      cut_time(1000);
      break;
    case TokenValue::kMicrosecond:
      break;
    case TokenValue::kWeek:
      throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("unit \"{}\" not supported for type interval", unit.name))
          .detail("Months usually have fractional weeks.");
    default:
      throw_unsupported(unit.name, kIntervalName);
  }
  return result;
}

std::optional<double> date_part_of_date(std::string_view field, std::int32_t date) {
  return date_part_of_timestamp(field, timestamp_from_date(date));
}

std::optional<double> date_part_of_time(std::string_view field, std::int64_t time) {
  return to_double(part_of_time(field, time));
}

std::optional<double> date_part_of_zoned_time(std::string_view field, std::int64_t time) {
  return to_double(part_of_time(field, time, kZonedTimeName));
}

std::optional<double> date_part_of_timestamp(std::string_view field, std::int64_t timestamp) {
  return to_double(part_of_timestamp(field, timestamp));
}

std::optional<double> date_part_of_timestamptz(std::string_view field, std::int64_t timestamptz, const TimeZone& zone) {
  return to_double(part_of_timestamptz(field, timestamptz, zone));
}

std::optional<double> date_part_of_interval(std::string_view field, const Interval& interval) {
  return to_double(part_of_interval(field, interval));
}

std::optional<Numeric> extract_from_date(std::string_view field, std::int32_t date) {
  return to_numeric(part_of_date(field, date));
}

std::optional<Numeric> extract_from_time(std::string_view field, std::int64_t time) {
  return to_numeric(part_of_time(field, time));
}

std::optional<Numeric> extract_from_zoned_time(std::string_view field, std::int64_t time) {
  return to_numeric(part_of_time(field, time, kZonedTimeName));
}

std::optional<Numeric> extract_from_timestamp(std::string_view field, std::int64_t timestamp) {
  return to_numeric(part_of_timestamp(field, timestamp));
}

std::optional<Numeric> extract_from_timestamptz(std::string_view field, std::int64_t timestamptz,
                                                const TimeZone& zone) {
  return to_numeric(part_of_timestamptz(field, timestamptz, zone));
}

std::optional<Numeric> extract_from_interval(std::string_view field, const Interval& interval) {
  return to_numeric(part_of_interval(field, interval));
}

std::int64_t date_bin(const Interval& stride, std::int64_t source, std::int64_t origin) {
  if (!is_finite_timestamp(source)) return source;
  if (!is_finite_timestamp(origin)) throw SqlError(sqlstate::kDatetimeFieldOverflow, "origin out of range");
  if (stride.months != 0)
    throw SqlError(sqlstate::kFeatureNotSupported, "timestamps cannot be binned into intervals containing months or years");
  const Int128 size = Int128{stride.days} * kMicrosecondsPerDay + stride.microseconds;
  if (size > std::numeric_limits<std::int64_t>::max() || size < std::numeric_limits<std::int64_t>::min())
    throw datetime_out_of_range("interval");
  if (size <= 0) throw SqlError(sqlstate::kDatetimeFieldOverflow, "stride must be greater than zero");
  const Int128 difference = Int128{source} - origin;
  if (difference > std::numeric_limits<std::int64_t>::max() || difference < std::numeric_limits<std::int64_t>::min())
    throw datetime_out_of_range("interval");
  Int128 rest = difference % size;
  if (rest < 0) rest += size;
  const Int128 result = source - rest;
  if (result < kMinTimestamp || result >= kEndTimestamp) throw datetime_out_of_range("timestamp");
  return static_cast<std::int64_t>(result);
}

}  // namespace redquel::sql
