#pragma once

#include <cstdint>

namespace redquel::sql {

// ISO 8601 weeks: they begin on Monday, and week 1 holds January 4th. Days are counted since 2000-01-01 (a Saturday).

/// 0 is Sunday.
int day_of_week(std::int32_t days);
/// The Monday of a week; weeks beyond the year's last run on.
std::int32_t iso_week_start(int year, int week);
struct IsoWeekDate {
  int year, week, day_of_year;
};
IsoWeekDate iso_week_date(std::int32_t days);
/// Like iso_week_date(), for an interval's fields, of any year, in PostgreSQL's 32-bit numbers of days, which wrap around.
IsoWeekDate iso_week_of_fields(int year, int month, int day);

}  // namespace redquel::sql
