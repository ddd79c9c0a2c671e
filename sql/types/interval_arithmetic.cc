#include <cmath>
#include <limits>

#include "sql/error.h"
#include "sql/types/datetime.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

constexpr int kDaysPerMonth = 30, kSecondsPerDay = 86400;

[[noreturn]] void throw_interval_range() { throw datetime_out_of_range("interval"); }

/// Two fields were given; whole parts move from one to the other.
void add_checked(std::int32_t& to, std::int64_t amount) {
  const std::int64_t sum = to + amount;
  if (sum > std::numeric_limits<std::int32_t>::max() || sum < std::numeric_limits<std::int32_t>::min())
    throw_interval_range();
  to = static_cast<std::int32_t>(sum);
}

void move_days_to_months(Interval& interval) {
  const std::int32_t months = interval.days / kDaysPerMonth;
  interval.days -= months * kDaysPerMonth;
  add_checked(interval.months, months);
}

void move_time_to_days(Interval& interval) {
  const std::int64_t days = interval.microseconds / kMicrosecondsPerDay;
  interval.microseconds -= days * kMicrosecondsPerDay;
  add_checked(interval.days, days);
}

/// Days and time get one sign.
void align_time_with_days(Interval& interval) {
  if (interval.days > 0 && interval.microseconds < 0) {
    interval.microseconds += kMicrosecondsPerDay;
    --interval.days;
  } else if (interval.days < 0 && interval.microseconds > 0) {
    interval.microseconds -= kMicrosecondsPerDay;
    ++interval.days;
  }
}

std::int32_t to_int32(double value) {
  if (!(value <= std::numeric_limits<std::int32_t>::max() && value >= std::numeric_limits<std::int32_t>::min()))
    throw_interval_range();
  return static_cast<std::int32_t>(value);
}

double round_to_microseconds(double value) { return std::rint(value * 1e6) / 1e6; }

/// Months and days times a factor leave fractions, which go down to days and time (never up).
template <class Scale>
Interval scale_interval(const Interval& interval, Scale scale) {
  Interval result;
  result.months = to_int32(scale(interval.months));
  result.days = to_int32(scale(interval.days));
  const double month_rest_days = round_to_microseconds((scale(interval.months) - result.months) * kDaysPerMonth);
  double rest_seconds = round_to_microseconds(
      (scale(interval.days) - result.days + month_rest_days - static_cast<int>(month_rest_days)) * kSecondsPerDay);
  if (std::fabs(rest_seconds) >= kSecondsPerDay) {
    const int days = static_cast<int>(rest_seconds / kSecondsPerDay);
    add_checked(result.days, days);
    rest_seconds -= days * static_cast<double>(kSecondsPerDay);
  }
  add_checked(result.days, static_cast<std::int32_t>(month_rest_days));
  const double time =
      std::rint(scale(static_cast<double>(interval.microseconds)) + rest_seconds * kMicrosecondsPerSecond);
  if (!(time >= -9223372036854775808.0 && time < 9223372036854775808.0)) throw_interval_range();
  result.microseconds = static_cast<std::int64_t>(time);
  return result;
}

}  // namespace

Int128 folded_microseconds(const Interval& interval) {
  return Int128{interval.microseconds} +
         (Int128{interval.days} + Int128{interval.months} * kDaysPerMonth) * kMicrosecondsPerDay;
}

int compare_intervals(const Interval& a, const Interval& b) {
  const Int128 x = folded_microseconds(a), y = folded_microseconds(b);
  return (x > y) - (x < y);
}

Interval add_intervals(const Interval& a, const Interval& b) {
  Interval result;
  if (__builtin_add_overflow(a.microseconds, b.microseconds, &result.microseconds) ||
      __builtin_add_overflow(a.days, b.days, &result.days) ||
      __builtin_add_overflow(a.months, b.months, &result.months))
    throw_interval_range();
  return result;
}

Interval subtract_intervals(const Interval& a, const Interval& b) {
  Interval result;
  if (__builtin_sub_overflow(a.microseconds, b.microseconds, &result.microseconds) ||
      __builtin_sub_overflow(a.days, b.days, &result.days) ||
      __builtin_sub_overflow(a.months, b.months, &result.months))
    throw_interval_range();
  return result;
}

Interval negate_interval(const Interval& interval) { return subtract_intervals({}, interval); }

Interval multiply_interval(const Interval& interval, double factor) {
  return scale_interval(interval, [factor](double value) { return value * factor; });
}

Interval divide_interval(const Interval& interval, double divisor) {
  if (divisor == 0) throw division_by_zero();
  return scale_interval(interval, [divisor](double value) { return value / divisor; });
}

Interval justify_hours(const Interval& interval) {
  Interval result = interval;
  move_time_to_days(result);
  align_time_with_days(result);
  return result;
}

Interval justify_days(const Interval& interval) {
  Interval result = interval;
  move_days_to_months(result);
  if (result.months > 0 && result.days < 0) {
    result.days += kDaysPerMonth;
    --result.months;
  } else if (result.months < 0 && result.days > 0) {
    result.days -= kDaysPerMonth;
    ++result.months;
  }
  return result;
}

Interval justify_interval(const Interval& interval) {
  Interval result = interval;
  // Days go first where days and time together could overflow.
  if ((result.days > 0 && result.microseconds > 0) || (result.days < 0 && result.microseconds < 0))
    move_days_to_months(result);
  move_time_to_days(result);
  move_days_to_months(result);
  if (result.months > 0 && (result.days < 0 || (result.days == 0 && result.microseconds < 0))) {
    result.days += kDaysPerMonth;
    --result.months;
  } else if (result.months < 0 && (result.days > 0 || (result.days == 0 && result.microseconds > 0))) {
    result.days -= kDaysPerMonth;
    ++result.months;
  }
  align_time_with_days(result);
  return result;
}

Interval apply_interval_modifier(const Interval& interval, std::int32_t modifier) {
  using namespace interval_field;
  if (modifier < 0) return interval;
  Interval result = interval;
  const int fields = (modifier >> 16) & kAll, precision = modifier & kFullPrecision;
  const auto cut = [&](std::int64_t unit) { result.microseconds = result.microseconds / unit * unit; };
  // Fields right of the last one are dropped, those left of the first one stay.
  switch (fields) {
    case kYear:
      result.months = result.months / 12 * 12;
      [[fallthrough]];
    case kMonth:
    case kYear | kMonth:
      result.days = 0;
      [[fallthrough]];
    case kDay:
      result.microseconds = 0;
      break;
    case kHour:
    case kDay | kHour:
      cut(kMicrosecondsPerHour);
      break;
    case kMinute:
    case kHour | kMinute:
    case kDay | kHour | kMinute:
      cut(kMicrosecondsPerMinute);
      break;
    default:
      break;
  }
  if (precision != kFullPrecision) result.microseconds = apply_timestamp_modifier(result.microseconds, precision);
  return result;
}

}  // namespace redquel::sql
