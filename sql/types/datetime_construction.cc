#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"
#include "sql/types/datetime_tokens.h"
#include "sql/value_errors.h"

// make_date and its relatives, to_timestamp(double).
namespace redquel::sql {
namespace {

/// %02g of C, as PostgreSQL prints seconds in these messages.
std::string seconds_text(double seconds) {
  if (std::isnan(seconds)) return "NaN";
  if (std::isinf(seconds)) return seconds > 0 ? "Infinity" : "-Infinity";
  char buffer[40];
  const int length = std::snprintf(buffer, sizeof buffer, "%02g", seconds);
  return std::string(buffer, static_cast<std::size_t>(length));
}

/// A year below 0 is BC. 22008 where there is no such day. PostgreSQL's message shows the astronomical year for a date,
/// the given one for a timestamp.
CivilTime checked_date(std::int32_t year, std::int32_t month, std::int32_t day, bool for_timestamp) {
  // The most negative year has no counterpart.
  const bool before_christ = year < 0 && year != std::numeric_limits<std::int32_t>::min();
  const int astronomical = before_christ ? year + 1 : year;
  if ((!before_christ && year <= 0) || month < 1 || month > 12 || day < 1 || day > days_in_month(astronomical, month)) {
    throw SqlError(sqlstate::kDatetimeFieldOverflow,
                   fmt::format("date field value out of range: {}-{:02}-{:02}", for_timestamp ? year : astronomical, month, day));
  }
  const CivilTime civil{.year = astronomical, .month = month, .day = day};
  const bool countable = astronomical >= -4713 && astronomical < 5874898;
  if (!countable || days_from_civil(astronomical, month, day) < kMinDate)
    throw SqlError(sqlstate::kDatetimeFieldOverflow,
                   fmt::format("date out of range: {}-{:02}-{:02}", for_timestamp ? year : astronomical, month, day));
  return civil;
}

std::int64_t checked_time(std::int32_t hour, std::int32_t minute, double seconds) {
  const double microseconds = std::rint(seconds * 1e6);
  if (hour >= 0 && hour <= 24 && minute >= 0 && minute < 60 && microseconds >= 0 && microseconds <= 60e6) {
    const std::int64_t time =
        hour * kMicrosecondsPerHour + minute * kMicrosecondsPerMinute + static_cast<std::int64_t>(microseconds);
    if (time <= kMicrosecondsPerDay) return time;
  }
  throw SqlError(sqlstate::kDatetimeFieldOverflow, fmt::format("time field value out of range: {}:{:02}:{}", hour, minute, seconds_text(seconds)));
}

/// A number with sign, an abbreviation or a name; seconds east, or the zone that decides.
std::optional<std::int32_t> decode_numeric_zone(std::string_view zone) {
  if (zone.empty() || (zone.front() != '+' && zone.front() != '-')) return std::nullopt;
  std::string_view rest = zone.substr(1);
  std::optional<std::int32_t> hours = take_int32(rest), minutes = 0, seconds = 0;
  if (hours && !rest.empty() && rest.front() == ':') {
    rest.remove_prefix(1);
    minutes = take_int32(rest);
    if (minutes && !rest.empty() && rest.front() == ':') {
      rest.remove_prefix(1);
      seconds = take_int32(rest);
    }
  } else if (hours && rest.empty() && zone.size() > 3) {
    minutes = *hours % 100;
    hours = *hours / 100;
  }
  if (!hours || !minutes || !seconds || *hours < 0 || *hours > 15 || *minutes < 0 || *minutes > 59 || *seconds < 0 ||
      *seconds > 59)
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("numeric time zone \"{}\" out of range", zone));
  if (!rest.empty()) return std::nullopt;
  const std::int32_t offset = (*hours * 60 + *minutes) * 60 + *seconds;
  return zone.front() == '-' ? -offset : offset;
}

}  // namespace

std::int32_t make_date(std::int32_t year, std::int32_t month, std::int32_t day) {
  const CivilTime civil = checked_date(year, month, day, false);
  return days_from_civil(civil.year, civil.month, civil.day);
}

std::int64_t make_time(std::int32_t hour, std::int32_t minute, double seconds) {
  return checked_time(hour, minute, seconds);
}

std::int64_t make_timestamp(std::int32_t year, std::int32_t month, std::int32_t day, std::int32_t hour,
                            std::int32_t minute, double seconds) {
  const CivilTime civil = checked_date(year, month, day, true);
  const std::int64_t time = checked_time(hour, minute, seconds);
  const Int128 result = Int128{days_from_civil(civil.year, civil.month, civil.day)} * kMicrosecondsPerDay + time;
  if (result < kMinTimestamp || result >= kEndTimestamp) {
    throw SqlError(sqlstate::kDatetimeFieldOverflow,
                   fmt::format("timestamp out of range: {}-{:02}-{:02} {}:{:02}:{}", civil.year, month, day, hour, minute, seconds_text(seconds)));
  }
  return static_cast<std::int64_t>(result);
}

std::int64_t make_timestamptz(std::int32_t year, std::int32_t month, std::int32_t day, std::int32_t hour,
                              std::int32_t minute, double seconds, const TimeZone& zone) {
  return timestamptz_from_local(make_timestamp(year, month, day, hour, minute, seconds), zone);
}

std::int64_t make_timestamptz(std::int32_t year, std::int32_t month, std::int32_t day, std::int32_t hour,
                              std::int32_t minute, double seconds, std::string_view zone) {
  const std::int64_t local = make_timestamp(year, month, day, hour, minute, seconds);
  if (!zone.empty() && zone.front() >= '0' && zone.front() <= '9') {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid input syntax for type numeric time zone: \"{}\"", zone))
        .hint("Numeric time zones must have \"-\" or \"+\" as first character.");
  }
  if (const std::optional<std::int32_t> offset = decode_numeric_zone(zone)) {
    const Interval east{*offset * kMicrosecondsPerSecond, 0, 0};
    return timestamptz_from_local(local, east);
  }
  return timestamptz_from_local(local, zone);
}

Interval make_interval(std::int32_t years, std::int32_t months, std::int32_t weeks, std::int32_t days,
                       std::int32_t hours, std::int32_t minutes, double seconds) {
  const double microseconds = std::rint(seconds * 1e6);
  if (!(std::fabs(microseconds) < 9.2e18)) throw datetime_out_of_range("interval");
  // Months, days and time wrap around, as PostgreSQL's do.
  const std::int64_t all_months = std::int64_t{years} * 12 + months, all_days = std::int64_t{weeks} * 7 + days;
  const Int128 time = Int128{hours} * kMicrosecondsPerHour + Int128{minutes} * kMicrosecondsPerMinute +
                      static_cast<std::int64_t>(microseconds);
  return {static_cast<std::int64_t>(time), static_cast<std::int32_t>(all_days), static_cast<std::int32_t>(all_months)};
}

std::int64_t timestamptz_from_epoch(double seconds) {
  if (std::isnan(seconds)) throw SqlError(sqlstate::kDatetimeFieldOverflow, "timestamp cannot be NaN");
  if (std::isinf(seconds)) return seconds > 0 ? kTimestampInfinity : kTimestampNegativeInfinity;
  const auto to_unix = [](std::int64_t timestamp) {
    return static_cast<double>(timestamp / kMicrosecondsPerSecond + kEpochUnixSeconds);
  };
  if (seconds >= to_unix(kMinTimestamp) && seconds < to_unix(kEndTimestamp)) {
    const double result = std::rint((seconds - static_cast<double>(kEpochUnixSeconds)) * 1e6);
    if (result >= static_cast<double>(kMinTimestamp) && result < static_cast<double>(kEndTimestamp))
      return static_cast<std::int64_t>(result);
  }
  char text[40];
  const int length = std::snprintf(text, sizeof text, "%g", seconds);
  throw datetime_out_of_range("timestamp", std::string_view(text, static_cast<std::size_t>(length)));
}

}  // namespace redquel::sql
