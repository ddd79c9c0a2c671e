// time with time zone (manual 9.9): its order, arithmetic, fields and casts.

#include <algorithm>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/functions/byte_comparison.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/group_states.h"
#include "sql/functions/lift.h"
#include "sql/types/conversions.h"
#include "sql/types/type_oids.h"
#include "sql/types/zoned_time.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

using Bytes = std::string_view;
using Point = std::optional<Bytes>;

ZonedTime read(Bytes bytes) { return ZonedTime::decode(bytes); }

void add(Bytes bytes, const Interval& length, std::string& out) {
  ZonedTime value = read(bytes);
  value.time = time_add_interval(value.time, length);
  out = value.encode();
}
void subtract(Bytes bytes, const Interval& length, std::string& out) {
  ZonedTime value = read(bytes);
  value.time = time_subtract_interval(value.time, length);
  out = value.encode();
}

std::int64_t on_date(std::int32_t date, Bytes bytes) {
  if (!is_finite_date(date)) return timestamp_from_date(date);
  const std::int64_t midnight = timestamp_from_date(date);
  const std::int64_t timestamp = midnight + read(bytes).utc();
  if (timestamp < kMinTimestamp || timestamp >= kEndTimestamp) throw datetime_out_of_range("timestamp");
  return timestamp;
}

// ---- zones ----------------------------------------------------------------------------------------------------------

void in_named_zone(Context context, Bytes zone, Bytes bytes, std::string& out) {
  const std::int64_t now = context.transaction_timestamp;
  const std::int64_t offset = (local_from_timestamptz(now, zone) - now) / kMicrosecondsPerSecond;
  out = read(bytes).in_zone(static_cast<std::int32_t>(offset)).encode();
}
void in_interval_zone(const Interval& zone, Bytes bytes, std::string& out) {
  const std::int64_t offset = local_from_timestamptz(0, zone) / kMicrosecondsPerSecond;
  out = read(bytes).in_zone(static_cast<std::int32_t>(offset)).encode();
}

/// Takes the time as one of today in the session's zone.
void from_time(Context context, std::int64_t time, std::string& out) {
  const TimeZone& zone = session_zone(*context.settings);
  const std::int64_t local = timestamp_from_timestamptz(context.transaction_timestamp, zone);
  const std::int64_t today = local - time_of_day(local);
  out = ZonedTime{time, zone.offset_of_local(today + time)}.encode();
}
bool from_timestamptz(Context context, std::int64_t timestamp, std::string& out) {
  if (!is_finite_timestamp(timestamp)) return false;
  const std::int32_t offset = session_zone(*context.settings).at(timestamp).offset;
  out = ZonedTime{time_of_day(timestamp + offset * kMicrosecondsPerSecond), offset}.encode();
  return true;
}

// ---- fields ---------------------------------------------------------------------------------------------------------

/// The fields of the zone and the epoch; the others are those of the time.
template <class Result, class OfTime>
std::optional<Result> field(Bytes name, Bytes bytes, const OfTime& of_time) {
  const ZonedTime value = read(bytes);
  const std::string lower = lower_case(name);
  if (lower == "timezone") return Result(value.offset);
  if (lower == "timezone_hour") return Result(value.offset / 3600);
  if (lower == "timezone_minute") return Result(value.offset / 60 % 60);
  if (lower == "epoch") {
    if constexpr (std::is_same_v<Result, double>) {
      return static_cast<double>(value.utc()) / 1e6;
    } else {
      return Numeric(value.utc(), 6);
    }
  }
  return of_time(name, value.time);
}
std::optional<double> date_part(Bytes name, Bytes bytes) { return field<double>(name, bytes, date_part_of_zoned_time); }
std::optional<Numeric> extract(Bytes name, Bytes bytes) { return field<Numeric>(name, bytes, extract_from_zoned_time); }

// ---- OVERLAPS -------------------------------------------------------------------------------------------------------

/// The standard's rule: NULL only if the answer depends on it. A pair may be given in either order, and one of its ends may be NULL.
std::optional<bool> overlaps(Point a_start, Point a_end, Point b_start, Point b_end) {
  const auto order = [](Point& start, Point& end) {
    if (!start || (end && *start > *end)) std::swap(start, end);
  };
  order(a_start, a_end);
  order(b_start, b_end);
  if (!a_start || !b_start) return std::nullopt;
  if (*a_start > *b_start) {
    std::swap(a_start, b_start);
    std::swap(a_end, b_end);
  }
  if (*a_start == *b_start) {
    if (!a_end || !b_end) return std::nullopt;
    return true;
  }
  if (!a_end) return std::nullopt;
  if (*b_start < *a_end) return true;
  return b_end ? std::optional(false) : std::nullopt;
}

}  // namespace

std::vector<ScalarFunction> zoned_time_functions() {
  constexpr auto kStable = Volatility::kStable;
  return {
      scalar<compare_bytes<std::equal_to<>>>("=", {kTimetz, kTimetz}, kBool),
      scalar<compare_bytes<std::not_equal_to<>>>("<>", {kTimetz, kTimetz}, kBool),
      scalar<compare_bytes<std::less<>>>("<", {kTimetz, kTimetz}, kBool),
      scalar<compare_bytes<std::less_equal<>>>("<=", {kTimetz, kTimetz}, kBool),
      scalar<compare_bytes<std::greater<>>>(">", {kTimetz, kTimetz}, kBool),
      scalar<compare_bytes<std::greater_equal<>>>(">=", {kTimetz, kTimetz}, kBool),
      scalar<add>("+", {kTimetz, kInterval}, kTimetz),
      scalar<[](const Interval& length, Bytes bytes, std::string& out) { add(bytes, length, out); }>(
          "+", {kInterval, kTimetz}, kTimetz),
      scalar<subtract>("-", {kTimetz, kInterval}, kTimetz),
      scalar<on_date>("+", {kDate, kTimetz}, kTimestamptz),
      scalar<[](Bytes bytes, std::int32_t date) { return on_date(date, bytes); }>("+", {kTimetz, kDate}, kTimestamptz),
      scalar<in_named_zone>("timezone", {kText, kTimetz}, kTimetz, kStable),
      scalar<in_interval_zone>("timezone", {kInterval, kTimetz}, kTimetz),
      scalar<date_part>("date_part", {kText, kTimetz}, kFloat8),
      scalar<extract>("extract", {kText, kTimetz}, kNumeric),
      scalar<overlaps>("overlaps", {kTimetz, kTimetz, kTimetz, kTimetz}, kBool),
  };
}

std::vector<CastFunction> zoned_time_casts() {
  constexpr auto kImplicit = CastContext::kImplicit, kAssignment = CastContext::kAssignment;
  constexpr auto kStable = Volatility::kStable;
  return {
      cast<from_time>(kTime, kTimetz, kImplicit, kStable),
      cast<from_timestamptz>(kTimestamptz, kTimetz, kAssignment, kStable),
      cast<[](Bytes bytes) { return read(bytes).time; }>(kTimetz, kTime, kAssignment),
  };
}

std::vector<AggregateFunction> zoned_time_aggregates() {
  return {aggregate<Bytes, ExtremeBytes<false>>("min", kTimetz, kTimetz), aggregate<Bytes, ExtremeBytes<true>>("max", kTimetz, kTimetz)};
}

}  // namespace redquel::sql
