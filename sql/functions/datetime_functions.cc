// Date and time functions (manual 9.9), except the operators and to_char's family.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/conversions.h"
#include "sql/types/datetime.h"
#include "sql/types/time_zone.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

using Instant = std::int64_t;

const TimeZone& zone_of(Context context) { return session_zone(*context.settings); }

// ---- now ------------------------------------------------------------------------------------------------------------

Instant transaction_time(Context context) { return context.transaction_timestamp; }
Instant statement_time(Context context) { return context.statement_timestamp; }
Instant clock_time(Context) { return current_timestamp(); }
std::int32_t today(Context context) { return date_from_timestamptz(context.transaction_timestamp, zone_of(context)); }
Instant local_now(Context context) {
  return timestamp_from_timestamptz(context.transaction_timestamp, zone_of(context));
}
std::optional<Instant> local_time_of_day(Context context) {
  return time_from_timestamptz(context.transaction_timestamp, zone_of(context));
}

/// "Wed Nov 21 09:41:00.123456 2023 UTC"
void time_of_day(Context context, std::string& out) {
  const Instant now = current_timestamp();
  const TimeZone& zone = zone_of(context);
  const CivilTime civil = civil_from_timestamp(timestamp_from_timestamptz(now, zone));
  constexpr const char* kDays[] = {"Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::int32_t days = days_from_civil(civil.year, civil.month, civil.day);
  fmt::format_to(std::back_inserter(out), "{} {} {:02} {:02}:{:02}:{:02}.{:06} {} {}", kDays[((days % 7) + 7) % 7],
                 kMonths[civil.month - 1], civil.day, civil.hour, civil.minute, civil.second, civil.microsecond,
                 civil.year, zone.at(now).abbreviation);
}

// ---- age ------------------------------------------------------------------------------------------------------------

/// PostgreSQL takes +infinity for its last instant, and cannot take -infinity apart.
void check_reachable(Instant a, Instant b) {
  if (a == kTimestampNegativeInfinity || b == kTimestampNegativeInfinity)
    throw datetime_out_of_range("timestamp");
}
Interval age_between(Instant a, Instant b) {
  check_reachable(a, b);
  return age(a, b);
}
Interval age_between_zoned(Context context, Instant a, Instant b) {
  check_reachable(a, b);
  return age(a, b, zone_of(context));
}
Interval age_today(Context context, Instant b) { return age_between(timestamp_from_date(today(context)), b); }
Interval age_today_zoned(Context context, Instant b) {
  return age_between_zoned(context, timestamptz_from_date(today(context), zone_of(context)), b);
}

// ---- fields ---------------------------------------------------------------------------------------------------------

std::optional<double> part_zoned(Context context, Text field, Instant value) {
  return date_part_of_timestamptz(field, value, zone_of(context));
}
std::optional<Numeric> extract_zoned(Context context, Text field, Instant value) {
  return extract_from_timestamptz(field, value, zone_of(context));
}
Instant truncate_zoned(Context context, Text field, Instant value) {
  return truncate_timestamptz(field, value, zone_of(context));
}
/// Abbreviations win over names, as everywhere. 22023 for what is neither.
const TimeZone& zone_or_abbreviation(Text name) {
  const ZoneAbbreviation* abbreviation = find_zone_abbreviation(lower_case(name));
  if (abbreviation == nullptr) return time_zone_named(name);
  if (!abbreviation->zone.empty()) return time_zone_named(abbreviation->zone);
  const std::int32_t west = -abbreviation->offset, seconds = std::abs(west);
  return time_zone_named(fmt::format("<x>{}{:02}:{:02}:{:02}", west < 0 ? '-' : '+', seconds / 3600, seconds / 60 % 60, seconds % 60));
}
Instant truncate_named_zone(Text field, Instant value, Text zone) {
  if (!is_finite_timestamp(value)) return value;
  return truncate_timestamptz(field, value, zone_or_abbreviation(zone));
}

// ---- construction ---------------------------------------------------------------------------------------------------

Instant make_in_zone(Context context, std::int32_t year, std::int32_t month, std::int32_t day, std::int32_t hour,
                     std::int32_t minute, double seconds) {
  return make_timestamptz(year, month, day, hour, minute, seconds, zone_of(context));
}
Instant make_in_named_zone(std::int32_t year, std::int32_t month, std::int32_t day, std::int32_t hour,
                           std::int32_t minute, double seconds, Text zone) {
  return make_timestamptz(year, month, day, hour, minute, seconds, zone);
}

/// make_interval() with its first arguments; the others are 0.
Interval interval_of(const std::array<std::int32_t, 6>& fields, double seconds) {
  return make_interval(fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], seconds);
}

std::vector<ScalarFunction> interval_constructors() {
  using I = std::int32_t;
  using Fields = std::array<I, 6>;
  return {
      scalar<[] { return interval_of(Fields{}, 0); }>("make_interval", {}, kInterval),
      scalar<[](I a) { return interval_of(Fields{a}, 0); }>("make_interval", {kInt4}, kInterval),
      scalar<[](I a, I b) {
        return interval_of(Fields{a, b}, 0);
      }>("make_interval", {kInt4, kInt4}, kInterval),
      scalar<[](I a, I b, I c) {
        return interval_of(Fields{a, b, c}, 0);
      }>("make_interval", {kInt4, kInt4, kInt4}, kInterval),
      scalar<[](I a, I b, I c, I d) {
        return interval_of(Fields{a, b, c, d}, 0);
      }>("make_interval", {kInt4, kInt4, kInt4, kInt4}, kInterval),
      scalar<[](I a, I b, I c, I d, I e) {
        return interval_of(Fields{a, b, c, d, e}, 0);
      }>("make_interval", {kInt4, kInt4, kInt4, kInt4, kInt4}, kInterval),
      scalar<[](I a, I b, I c, I d, I e, I f) {
        return interval_of(Fields{a, b, c, d, e, f}, 0);
      }>("make_interval", {kInt4, kInt4, kInt4, kInt4, kInt4, kInt4}, kInterval),
      scalar<[](I a, I b, I c, I d, I e, I f, double s) {
        return interval_of(Fields{a, b, c, d, e, f}, s);
      }>("make_interval", {kInt4, kInt4, kInt4, kInt4, kInt4, kInt4, kFloat8}, kInterval),
  };
}

// ---- OVERLAPS -------------------------------------------------------------------------------------------------------

using Point = std::optional<Instant>;

/// One period: its known end first, or both in order.
struct Period {
  Instant start;
  Point end;
};
std::optional<Period> period_of(Point a, Point b) {
  if (!a) std::swap(a, b);
  if (!a) return std::nullopt;
  if (b && *b < *a) std::swap(a, b);
  return Period{*a, b};
}

/// NULL ends make the answer unknown only where they matter.
std::optional<bool> overlaps(Point start_a, Point end_a, Point start_b, Point end_b) {
  std::optional<Period> first = period_of(start_a, end_a), second = period_of(start_b, end_b);
  if (!first || !second) return std::nullopt;
  if (first->start == second->start) {
    if (!first->end || !second->end) return std::nullopt;
    return true;
  }
  if (first->start > second->start) std::swap(first, second);
  if (!first->end) return std::nullopt;
  if (second->start < *first->end) return true;
  if (!second->end) return std::nullopt;
  return false;
}

using Length = std::optional<Interval>;
struct LocalShift {
  static Point apply(Context, Point start, const Length& length) {
    if (!start || !length) return std::nullopt;
    return add_interval(*start, *length);
  }
};
struct ZonedShift {
  static Point apply(Context context, Point start, const Length& length) {
    if (!start || !length) return std::nullopt;
    return add_interval(*start, *length, zone_of(context));
  }
};
struct TimeShift {
  static Point apply(Context, Point start, const Length& length) {
    if (!start || !length) return std::nullopt;
    return time_add_interval(*start, *length);
  }
};

template <class Shift>
std::optional<bool> overlaps_second(Context context, Point a, Point b, Point c, Length d) {
  return overlaps(a, b, c, Shift::apply(context, c, d));
}
template <class Shift>
std::optional<bool> overlaps_first(Context context, Point a, Length b, Point c, Point d) {
  return overlaps(a, Shift::apply(context, a, b), c, d);
}
template <class Shift>
std::optional<bool> overlaps_both(Context context, Point a, Length b, Point c, Length d) {
  return overlaps(a, Shift::apply(context, a, b), c, Shift::apply(context, c, d));
}

template <class Shift>
void add_overlaps(std::vector<ScalarFunction>& table, Type type, Volatility volatility) {
  table.push_back(scalar<overlaps>("overlaps", {type, type, type, type}, kBool));
  table.push_back(scalar<overlaps_second<Shift>>("overlaps", {type, type, type, kInterval}, kBool, volatility));
  table.push_back(scalar<overlaps_first<Shift>>("overlaps", {type, kInterval, type, type}, kBool, volatility));
  table.push_back(scalar<overlaps_both<Shift>>("overlaps", {type, kInterval, type, kInterval}, kBool, volatility));
}

std::vector<ScalarFunction> clock_functions() {
  constexpr auto stable = Volatility::kStable;
  return {
      scalar<transaction_time>("now", {}, kTimestamptz, stable),
      scalar<transaction_time>("transaction_timestamp", {}, kTimestamptz, stable),
      scalar<statement_time>("statement_timestamp", {}, kTimestamptz, stable),
      scalar<clock_time>("clock_timestamp", {}, kTimestamptz, Volatility::kVolatile),
      scalar<time_of_day>("timeofday", {}, kText, Volatility::kVolatile),
      // The functions behind CURRENT_DATE and its relatives; a precision is a modifier on top.
      scalar<today>("current_date", {}, kDate, stable),
      scalar<transaction_time>("current_timestamp", {}, kTimestamptz, stable),
      scalar<local_now>("localtimestamp", {}, kTimestamp, stable),
      scalar<local_time_of_day>("localtime", {}, kTime, stable),
      scalar<age_between>("age", {kTimestamp, kTimestamp}, kInterval),
      scalar<age_between_zoned>("age", {kTimestamptz, kTimestamptz}, kInterval),
      scalar<age_today>("age", {kTimestamp}, kInterval, stable),
      scalar<age_today_zoned>("age", {kTimestamptz}, kInterval, stable),
  };
}

// ---- sleeping -------------------------------------------------------------------------------------------------------

/// Nothing here may block: the run waits before it gives its rows.
Text sleep_for(Context context, double seconds) {
  constexpr double kLongest = 1e12;
  if (seconds > 0) context.sleep += static_cast<std::int64_t>(std::min(seconds, kLongest) * 1e6);
  return {};
}
Text sleep_for_interval(Context context, const Interval& length) {
  const std::int64_t end = add_interval(context.statement_timestamp, length, zone_of(context));
  return sleep_for(context, static_cast<double>(end - context.statement_timestamp) / 1e6);
}
Text sleep_until(Context context, Instant end) {
  return sleep_for(context, static_cast<double>(end - current_timestamp()) / 1e6);
}

std::vector<ScalarFunction> sleep_functions() {
  constexpr auto kVolatile = Volatility::kVolatile;
  return {
      scalar<sleep_for>("pg_sleep", {kFloat8}, kVoid, kVolatile),
      scalar<sleep_for_interval>("pg_sleep_for", {kInterval}, kVoid, kVolatile),
      scalar<sleep_until>("pg_sleep_until", {kTimestamptz}, kVoid, kVolatile),
  };
}

std::vector<ScalarFunction> field_functions() {
  constexpr auto stable = Volatility::kStable;
  return {
      scalar<date_part_of_date>("date_part", {kText, kDate}, kFloat8),
      scalar<date_part_of_time>("date_part", {kText, kTime}, kFloat8),
      scalar<date_part_of_timestamp>("date_part", {kText, kTimestamp}, kFloat8),
      scalar<part_zoned>("date_part", {kText, kTimestamptz}, kFloat8, stable),
      scalar<date_part_of_interval>("date_part", {kText, kInterval}, kFloat8),
      scalar<extract_from_date>("extract", {kText, kDate}, kNumeric),
      scalar<extract_from_time>("extract", {kText, kTime}, kNumeric),
      scalar<extract_from_timestamp>("extract", {kText, kTimestamp}, kNumeric),
      scalar<extract_zoned>("extract", {kText, kTimestamptz}, kNumeric, stable),
      scalar<extract_from_interval>("extract", {kText, kInterval}, kNumeric),
      scalar<truncate_timestamp>("date_trunc", {kText, kTimestamp}, kTimestamp),
      scalar<truncate_zoned>("date_trunc", {kText, kTimestamptz}, kTimestamptz, stable),
      scalar<truncate_named_zone>("date_trunc", {kText, kTimestamptz, kText}, kTimestamptz, stable),
      scalar<truncate_interval>("date_trunc", {kText, kInterval}, kInterval),
      scalar<date_bin>("date_bin", {kInterval, kTimestamp, kTimestamp}, kTimestamp),
      scalar<date_bin>("date_bin", {kInterval, kTimestamptz, kTimestamptz}, kTimestamptz),
      scalar<is_finite_date>("isfinite", {kDate}, kBool),
      scalar<is_finite_timestamp>("isfinite", {kTimestamp}, kBool),
      scalar<is_finite_timestamp>("isfinite", {kTimestamptz}, kBool),
      scalar<[](const Interval&) { return true; }>("isfinite", {kInterval}, kBool),
      scalar<justify_hours>("justify_hours", {kInterval}, kInterval),
      scalar<justify_days>("justify_days", {kInterval}, kInterval),
      scalar<justify_interval>("justify_interval", {kInterval}, kInterval),
  };
}

std::vector<ScalarFunction> construction_functions() {
  constexpr auto stable = Volatility::kStable;
  return {
      scalar<make_date>("make_date", {kInt4, kInt4, kInt4}, kDate),
      scalar<make_time>("make_time", {kInt4, kInt4, kFloat8}, kTime),
      scalar<make_timestamp>("make_timestamp", {kInt4, kInt4, kInt4, kInt4, kInt4, kFloat8}, kTimestamp),
      scalar<make_in_zone>("make_timestamptz", {kInt4, kInt4, kInt4, kInt4, kInt4, kFloat8}, kTimestamptz, stable),
      scalar<make_in_named_zone>("make_timestamptz", {kInt4, kInt4, kInt4, kInt4, kInt4, kFloat8, kText}, kTimestamptz,
                                 stable),
      scalar<timestamptz_from_epoch>("to_timestamp", {kFloat8}, kTimestamptz),
      scalar<[](Text zone, Instant local) { return timestamptz_from_local(local, zone); }>(
          "timezone", {kText, kTimestamp}, kTimestamptz),
      scalar<[](Text zone, Instant value) { return local_from_timestamptz(value, zone); }>(
          "timezone", {kText, kTimestamptz}, kTimestamp),
      scalar<[](const Interval& zone, Instant local) { return timestamptz_from_local(local, zone); }>(
          "timezone", {kInterval, kTimestamp}, kTimestamptz),
      scalar<[](const Interval& zone, Instant value) { return local_from_timestamptz(value, zone); }>(
          "timezone", {kInterval, kTimestamptz}, kTimestamp),
  };
}

}  // namespace

std::vector<ScalarFunction> datetime_functions() {
  std::vector<ScalarFunction> table = clock_functions();
  for (const auto& part : {field_functions(), construction_functions(), interval_constructors(), sleep_functions()}) {
    table.insert(table.end(), part.begin(), part.end());
  }
  add_overlaps<TimeShift>(table, kTime, Volatility::kImmutable);
  add_overlaps<LocalShift>(table, kTimestamp, Volatility::kImmutable);
  add_overlaps<ZonedShift>(table, kTimestamptz, Volatility::kStable);
  return table;
}

}  // namespace redquel::sql
