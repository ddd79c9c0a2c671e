#pragma once

#include <cmath>
#include <utility>

#include "sql/column.h"
#include "sql/error.h"
#include "sql/functions/function.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"
#include "sql/types/numeric.h"
#include "sql/types/time_zone.h"
#include "sql/types/zoned_time.h"

namespace redquel::sql {

// The comparison of RANGE frames with an offset and of the functions in_range(): true if `value` is at or beyond base ± offset (`less`: at
// or before). A rule is made from the offset (22013 if it is negative or NaN) and reads values of its type from columns.

[[noreturn]] inline void throw_invalid_offset() {
  throw SqlError(sqlstate::kInvalidPrecedingOrFollowingSize, "invalid preceding or following size in window function");
}

template <class T>
struct IntegerRule {
  Int128 offset;
  explicit IntegerRule(Int128 distance) : offset(distance) {
    if (offset < 0) throw_invalid_offset();
  }
  static Int128 read(const Column& column, std::size_t row) { return column.get<T>(row); }
  bool in_range(Int128 value, Int128 base, bool subtract, bool less) const {
    const Int128 limit = subtract ? base - offset : base + offset;
    return less ? value <= limit : value >= limit;
  }
};

template <class T>
struct FloatRule {
  double offset;
  explicit FloatRule(double distance) : offset(distance) {
    if (std::isnan(offset) || offset < 0) throw_invalid_offset();
  }
  static double read(const Column& column, std::size_t row) { return column.get<T>(row); }
  bool in_range(double value, double base, bool subtract, bool less) const {
    if (std::isnan(value)) return std::isnan(base) || !less;
    if (std::isnan(base)) return less;
    if (std::isinf(offset) && std::isinf(base) && (subtract ? base > 0 : base < 0)) return true;
    const double limit = subtract ? base - offset : base + offset;
    return less ? value <= limit : value >= limit;
  }
};

struct NumericRule {
  Numeric offset;
  explicit NumericRule(Numeric distance) : offset(std::move(distance)) {
    if (offset.is_nan() || offset.sign() < 0) throw_invalid_offset();
  }
  static const Numeric& read(const Column& column, std::size_t row) { return column.ref<Numeric>(row); }
  bool in_range(const Numeric& value, const Numeric& base, bool subtract, bool less) const {
    if (value.is_nan()) return base.is_nan() || !less;
    if (base.is_nan()) return less;
    if (offset.is_infinite() && base.is_infinite() && (subtract ? base.sign() > 0 : base.sign() < 0)) return true;
    const Numeric limit = subtract ? base - offset : base + offset;
    return less ? value <= limit : value >= limit;
  }
};

struct IntervalOffset {
  Interval offset;
  explicit IntervalOffset(const Interval& distance) : offset(distance) {
    if (compare_intervals(offset, Interval{}) < 0) throw_invalid_offset();
  }
};

struct TimestampRule : IntervalOffset {
  const TimeZone* zone;  // null: without time zone
  TimestampRule(const Interval& distance, const TimeZone* time_zone) : IntervalOffset(distance), zone(time_zone) {}
  static std::int64_t read(const Column& column, std::size_t row) { return column.get<std::int64_t>(row); }
  bool in_range(std::int64_t value, std::int64_t base, bool subtract, bool less) const {
    std::int64_t limit = 0;
    if (zone == nullptr) {
      limit = subtract ? subtract_interval(base, offset) : add_interval(base, offset);
    } else {
      limit = subtract ? subtract_interval(base, offset, *zone) : add_interval(base, offset, *zone);
    }
    return less ? value <= limit : value >= limit;
  }
};

struct DateRule : TimestampRule {
  explicit DateRule(const Interval& distance) : TimestampRule(distance, nullptr) {}
  static std::int64_t read(const Column& column, std::size_t row) {
    return timestamp_from_date(column.get<std::int32_t>(row));
  }
};

/// Months and days of the offset do not count; there is no way around midnight.
struct TimeRule {
  std::int64_t offset;
  explicit TimeRule(const Interval& distance) : offset(distance.microseconds) {
    if (offset < 0) throw_invalid_offset();
  }
  static std::int64_t read(const Column& column, std::size_t row) { return column.get<std::int64_t>(row); }
  bool in_range(std::int64_t value, std::int64_t base, bool subtract, bool less) const {
    const std::int64_t limit = moved(base, subtract);
    return less ? value <= limit : value >= limit;
  }

 protected:
  /// The limit wraps around in 64 bits, as PostgreSQL's does.
  std::int64_t moved(std::int64_t base, bool subtract) const {
    const auto from = static_cast<std::uint64_t>(base), distance = static_cast<std::uint64_t>(offset);
    return static_cast<std::int64_t>(subtract ? from - distance : from + distance);
  }
};

/// The rule for values with time zones: compares instants, then zones.
struct ZonedTimeRule : TimeRule {
  using TimeRule::TimeRule;
  static ZonedTime read(const Column& column, std::size_t row) { return ZonedTime::decode(column.get<std::string_view>(row)); }
  bool in_range(const ZonedTime& value, const ZonedTime& base, bool subtract, bool less) const {
    const ZonedTime limit{moved(base.time, subtract), base.offset};
    const auto order = std::pair(value.utc(), -value.offset) <=> std::pair(limit.utc(), -limit.offset);
    return less ? order <= 0 : order >= 0;
  }
};

struct IntervalRule : IntervalOffset {
  using IntervalOffset::IntervalOffset;
  static const Interval& read(const Column& column, std::size_t row) { return column.ref<Interval>(row); }
  bool in_range(const Interval& value, const Interval& base, bool subtract, bool less) const {
    const Interval limit = subtract ? subtract_intervals(base, offset) : add_intervals(base, offset);
    const int order = compare_intervals(value, limit);
    return less ? order <= 0 : order >= 0;
  }
};

/// in_range() of all types, for registry.cc.
std::vector<ScalarFunction> in_range_functions();

}  // namespace redquel::sql
