#include "executor/operators/window_range.h"

#include <cmath>
#include <utility>

#include "sql/error.h"
#include "sql/types/datetime.h"
#include "sql/types/numeric.h"
#include "sql/types/more_types.h"
#include "sql/types/time_zone.h"
#include "sql/types/zoned_time.h"

namespace redquel::executor {

RangeEdge::RangeEdge(sql::ColumnPtr values, const planner::SortKey& key, bool preceding, bool is_end)
    : values_(std::move(values)),
      nulls_first_(key.nulls_first),
      is_end_(is_end),
      subtract_(preceding != key.descending),
      less_(is_end != key.descending) {}

RowNumber RangeEdge::find(RowNumber row, RowNumber partition_begin, RowNumber partition_end) {
  if (partition_ != partition_begin) {
    partition_ = partition_begin;
    found_ = partition_begin;
  }
  const bool null = values_->is_null(row);
  for (; found_ < partition_end; ++found_) {
    const bool found_null = values_->is_null(found_);
    if (null || found_null) {
      // Where the NULLs stand decides alone.
      const bool stop = is_end_ ? (nulls_first_ ? !found_null : !null)
                                : (nulls_first_ ? !found_null || null : found_null || !null);
      if (stop) break;
    } else if (in_range(found_, row, subtract_, less_) != is_end_) {
      break;
    }
  }
  return found_;
}

namespace {

[[noreturn]] void throw_invalid_offset() {
  throw sql::SqlError("22013", "invalid preceding or following size in window function");
}

/// A type's values and what in_range says of two of them.
template <class Rule>
class Edge final : public RangeEdge {
 public:
  Edge(Rule rule, sql::ColumnPtr values, const planner::SortKey& key, bool preceding, bool is_end)
      : RangeEdge(std::move(values), key, preceding, is_end), rule_(std::move(rule)) {}

 private:
  bool in_range(RowNumber row, RowNumber base, bool subtract, bool less) const override {
    return rule_.in_range(rule_.read(*values_, row), rule_.read(*values_, base), subtract, less);
  }

  Rule rule_;
};

template <class T>
struct IntegerRule {
  sql::Int128 offset;
  explicit IntegerRule(sql::Int128 distance) : offset(distance) {
    if (offset < 0) throw_invalid_offset();
  }
  static sql::Int128 read(const sql::Column& column, RowNumber row) { return column.get<T>(row); }
  bool in_range(sql::Int128 value, sql::Int128 base, bool subtract, bool less) const {
    const sql::Int128 limit = subtract ? base - offset : base + offset;
    return less ? value <= limit : value >= limit;
  }
};

template <class T>
struct FloatRule {
  double offset;
  explicit FloatRule(double distance) : offset(distance) {
    if (std::isnan(offset) || offset < 0) throw_invalid_offset();
  }
  static double read(const sql::Column& column, RowNumber row) { return column.get<T>(row); }
  bool in_range(double value, double base, bool subtract, bool less) const {
    if (std::isnan(value)) return std::isnan(base) || !less;
    if (std::isnan(base)) return less;
    if (std::isinf(offset) && std::isinf(base) && (subtract ? base > 0 : base < 0)) return true;
    const double limit = subtract ? base - offset : base + offset;
    return less ? value <= limit : value >= limit;
  }
};

struct NumericRule {
  sql::Numeric offset;
  explicit NumericRule(sql::Numeric distance) : offset(std::move(distance)) {
    if (offset.is_nan() || offset.sign() < 0) throw_invalid_offset();
  }
  static const sql::Numeric& read(const sql::Column& column, RowNumber row) { return column.ref<sql::Numeric>(row); }
  bool in_range(const sql::Numeric& value, const sql::Numeric& base, bool subtract, bool less) const {
    if (value.is_nan()) return base.is_nan() || !less;
    if (base.is_nan()) return less;
    if (offset.is_infinite() && base.is_infinite() && (subtract ? base.sign() > 0 : base.sign() < 0)) return true;
    const sql::Numeric limit = subtract ? base - offset : base + offset;
    return less ? value <= limit : value >= limit;
  }
};

struct IntervalOffset {
  sql::Interval offset;
  explicit IntervalOffset(const sql::Interval& distance) : offset(distance) {
    if (sql::compare_intervals(offset, sql::Interval{}) < 0) throw_invalid_offset();
  }
};

struct TimestampRule : IntervalOffset {
  const sql::TimeZone* zone;  // null: without time zone
  TimestampRule(const sql::Interval& distance, const sql::TimeZone* time_zone) : IntervalOffset(distance), zone(time_zone) {}
  static std::int64_t read(const sql::Column& column, RowNumber row) { return column.get<std::int64_t>(row); }
  bool in_range(std::int64_t value, std::int64_t base, bool subtract, bool less) const {
    std::int64_t limit = 0;
    if (zone == nullptr) {
      limit = subtract ? sql::subtract_interval(base, offset) : sql::add_interval(base, offset);
    } else {
      limit = subtract ? sql::subtract_interval(base, offset, *zone) : sql::add_interval(base, offset, *zone);
    }
    return less ? value <= limit : value >= limit;
  }
};

struct DateRule : TimestampRule {
  explicit DateRule(const sql::Interval& distance) : TimestampRule(distance, nullptr) {}
  static std::int64_t read(const sql::Column& column, RowNumber row) {
    return sql::timestamp_from_date(column.get<std::int32_t>(row));
  }
};

/// Months and days of the offset do not count; there is no way around midnight.
struct TimeRule {
  std::int64_t offset;
  explicit TimeRule(const sql::Interval& distance) : offset(distance.microseconds) {
    if (offset < 0) throw_invalid_offset();
  }
  static std::int64_t read(const sql::Column& column, RowNumber row) { return column.get<std::int64_t>(row); }
  bool in_range(std::int64_t value, std::int64_t base, bool subtract, bool less) const {
    const sql::Int128 limit = subtract ? sql::Int128(base) - offset : sql::Int128(base) + offset;
    return less ? value <= limit : value >= limit;
  }
};

/// The same, from zone to zone: instants are compared, then zones.
struct ZonedTimeRule : TimeRule {
  using TimeRule::TimeRule;
  static sql::ZonedTime read(const sql::Column& column, RowNumber row) { return sql::ZonedTime::decode(column.get<std::string_view>(row)); }
  bool in_range(const sql::ZonedTime& value, const sql::ZonedTime& base, bool subtract, bool less) const {
    sql::ZonedTime limit = base;
    if (subtract ? __builtin_sub_overflow(base.time, offset, &limit.time) : __builtin_add_overflow(base.time, offset, &limit.time)) return less;
    const auto order = std::pair(value.utc(), -value.offset) <=> std::pair(limit.utc(), -limit.offset);
    return less ? order <= 0 : order >= 0;
  }
};

struct IntervalRule : IntervalOffset {
  using IntervalOffset::IntervalOffset;
  static const sql::Interval& read(const sql::Column& column, RowNumber row) { return column.ref<sql::Interval>(row); }
  bool in_range(const sql::Interval& value, const sql::Interval& base, bool subtract, bool less) const {
    const sql::Interval limit = subtract ? sql::subtract_intervals(base, offset) : sql::add_intervals(base, offset);
    const int order = sql::compare_intervals(value, limit);
    return less ? order <= 0 : order >= 0;
  }
};

sql::Int128 integer_of(const sql::Datum& offset) {
  if (const auto* two = std::get_if<std::int16_t>(&offset)) return *two;
  if (const auto* four = std::get_if<std::int32_t>(&offset)) return *four;
  return std::get<std::int64_t>(offset);
}

}  // namespace

std::unique_ptr<RangeEdge> make_range_edge(sql::ColumnPtr values, const planner::SortKey& key, const sql::Datum& offset,
                                             bool preceding, bool is_end, const sql::EvaluationContext& context) {
  const auto make = [&]<class Rule>(Rule rule) -> std::unique_ptr<RangeEdge> {
    return std::make_unique<Edge<Rule>>(std::move(rule), std::move(values), key, preceding, is_end);
  };
  switch (key.expression->type.oid) {
    case sql::oid::kInt2:
      return make(IntegerRule<std::int16_t>(integer_of(offset)));
    case sql::oid::kInt4:
      return make(IntegerRule<std::int32_t>(integer_of(offset)));
    case sql::oid::kInt8:
      return make(IntegerRule<std::int64_t>(integer_of(offset)));
    case sql::oid::kFloat4:
      return make(FloatRule<float>(std::get<double>(offset)));
    case sql::oid::kFloat8:
      return make(FloatRule<double>(std::get<double>(offset)));
    case sql::oid::kNumeric:
      return make(NumericRule(std::get<sql::Numeric>(offset)));
    case sql::oid::kDate:
      return make(DateRule(std::get<sql::Interval>(offset)));
    case sql::oid::kTimestamp:
      return make(TimestampRule(std::get<sql::Interval>(offset), nullptr));
    case sql::oid::kTimestamptz:
      return make(TimestampRule(std::get<sql::Interval>(offset), &sql::session_zone(*context.settings)));
    case sql::oid::kTime:
      return make(TimeRule(std::get<sql::Interval>(offset)));
    case sql::oid::kTimetz:
      return make(ZonedTimeRule(std::get<sql::Interval>(offset)));
    case sql::oid::kInterval:
      return make(IntervalRule(std::get<sql::Interval>(offset)));
    default:
      throw sql::not_supported("RANGE offset of this type");
  }
}

}  // namespace redquel::executor
