// The operators + - * / of dates, times and intervals (manual 9.9, table of operators).

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/datetime.h"
#include "sql/types/time_zone.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

using Date = std::int32_t;
using Instant = std::int64_t;
using I = const Interval&;

const TimeZone& zone_of(Context context) { return session_zone(*context.settings); }

Date subtract_days(Date date, std::int32_t days) {
  if (!is_finite_date(date)) return date;
  std::int32_t negated;
  if (__builtin_sub_overflow(0, days, &negated)) throw datetime_out_of_range("date");
  return add_days(date, negated);
}

std::vector<ScalarFunction> date_operators() {
  return {
      scalar<add_days>("+", {kDate, kInt4}, kDate),
      scalar<[](std::int32_t days, Date date) { return add_days(date, days); }>("+", {kInt4, kDate}, kDate),
      scalar<subtract_days>("-", {kDate, kInt4}, kDate),
      scalar<subtract_dates>("-", {kDate, kDate}, kInt4),
      scalar<[](Date date, I i) { return add_interval(timestamp_from_date(date), i); }>("+", {kDate, kInterval},
                                                                                        kTimestamp),
      scalar<[](I i, Date date) { return add_interval(timestamp_from_date(date), i); }>("+", {kInterval, kDate},
                                                                                        kTimestamp),
      scalar<[](Date date, I i) { return subtract_interval(timestamp_from_date(date), i); }>("-", {kDate, kInterval},
                                                                                             kTimestamp),
      scalar<timestamp_from_date_and_time>("+", {kDate, kTime}, kTimestamp),
      scalar<[](Instant time, Date date) { return timestamp_from_date_and_time(date, time); }>("+", {kTime, kDate},
                                                                                               kTimestamp),
  };
}

std::vector<ScalarFunction> timestamp_operators() {
  constexpr auto stable = Volatility::kStable;
  return {
      scalar<[](Instant t, I i) { return add_interval(t, i); }>("+", {kTimestamp, kInterval}, kTimestamp),
      scalar<[](I i, Instant t) { return add_interval(t, i); }>("+", {kInterval, kTimestamp}, kTimestamp),
      scalar<[](Instant t, I i) { return subtract_interval(t, i); }>("-", {kTimestamp, kInterval}, kTimestamp),
      scalar<subtract_timestamps>("-", {kTimestamp, kTimestamp}, kInterval),
      scalar<[](Context c, Instant t, I i) { return add_interval(t, i, zone_of(c)); }>("+", {kTimestamptz, kInterval},
                                                                                       kTimestamptz, stable),
      scalar<[](Context c, I i, Instant t) { return add_interval(t, i, zone_of(c)); }>("+", {kInterval, kTimestamptz},
                                                                                       kTimestamptz, stable),
      scalar<[](Context c, Instant t, I i) { return subtract_interval(t, i, zone_of(c)); }>(
          "-", {kTimestamptz, kInterval}, kTimestamptz, stable),
      scalar<subtract_timestamps>("-", {kTimestamptz, kTimestamptz}, kInterval),
      scalar<time_add_interval>("+", {kTime, kInterval}, kTime),
      scalar<[](I i, Instant time) { return time_add_interval(time, i); }>("+", {kInterval, kTime}, kTime),
      scalar<time_subtract_interval>("-", {kTime, kInterval}, kTime),
      scalar<subtract_times>("-", {kTime, kTime}, kInterval),
  };
}

std::vector<ScalarFunction> interval_operators() {
  return {
      scalar<add_intervals>("+", {kInterval, kInterval}, kInterval),
      scalar<subtract_intervals>("-", {kInterval, kInterval}, kInterval),
      scalar<negate_interval>("-", {kInterval}, kInterval),
      scalar<multiply_interval>("*", {kInterval, kFloat8}, kInterval),
      scalar<[](double factor, I i) { return multiply_interval(i, factor); }>("*", {kFloat8, kInterval}, kInterval),
      scalar<divide_interval>("/", {kInterval, kFloat8}, kInterval),
  };
}

}  // namespace

std::vector<ScalarFunction> datetime_arithmetic_functions() {
  std::vector<ScalarFunction> table = date_operators();
  for (const auto& part : {timestamp_operators(), interval_operators()}) {
    table.insert(table.end(), part.begin(), part.end());
  }
  return table;
}

}  // namespace redquel::sql
