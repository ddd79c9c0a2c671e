// Casts among dates, times, timestamps and intervals (pg_cast).

#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/conversions.h"
#include "sql/types/datetime.h"
#include "sql/types/time_zone.h"

namespace redquel::sql {
namespace {

const TimeZone& zone_of(Context context) { return session_zone(*context.settings); }

}  // namespace

std::vector<CastFunction> datetime_casts() {
  constexpr auto implicit = CastContext::kImplicit;
  constexpr auto assignment = CastContext::kAssignment;
  constexpr auto stable = Volatility::kStable;
  return {
      cast<[](std::int32_t date) { return timestamp_from_date(date); }>(kDate, kTimestamp, implicit),
      cast<[](Context c, std::int32_t date) { return timestamptz_from_date(date, zone_of(c)); }>(kDate, kTimestamptz,
                                                                                                 implicit, stable),
      cast<interval_from_time>(kTime, kInterval, implicit),
      cast<time_from_interval>(kInterval, kTime, assignment),
      cast<date_from_timestamp>(kTimestamp, kDate, assignment),
      cast<time_from_timestamp>(kTimestamp, kTime, assignment),
      cast<[](Context c, std::int64_t t) { return timestamptz_from_timestamp(t, zone_of(c)); }>(
          kTimestamp, kTimestamptz, implicit, stable),
      cast<[](Context c, std::int64_t t) { return date_from_timestamptz(t, zone_of(c)); }>(kTimestamptz, kDate,
                                                                                           assignment, stable),
      cast<[](Context c, std::int64_t t) { return time_from_timestamptz(t, zone_of(c)); }>(kTimestamptz, kTime,
                                                                                           assignment, stable),
      cast<[](Context c, std::int64_t t) { return timestamp_from_timestamptz(t, zone_of(c)); }>(
          kTimestamptz, kTimestamp, assignment, stable),
  };
}

}  // namespace redquel::sql
