#include "sql/functions/iso_week.h"

#include "sql/types/datetime.h"

namespace redquel::sql {

int day_of_week(std::int32_t days) { return static_cast<int>(((std::int64_t{days} + 6) % 7 + 7) % 7); }

std::int32_t iso_week_start(int year, int week) {
  const std::int32_t fourth = days_from_civil(year, 1, 4);
  const int since_monday = (day_of_week(fourth) + 6) % 7;
  return fourth - since_monday + (week - 1) * 7;
}

IsoWeekDate iso_week_date(std::int32_t days) {
  int year = civil_from_days(days).year + 1;
  while (days < iso_week_start(year, 1)) --year;
  const std::int32_t start = iso_week_start(year, 1);
  return {year, (days - start) / 7 + 1, days - start + 1};
}

namespace {

using Wrapping = std::uint32_t;

/// PostgreSQL's date2j(): divisions cut towards zero, sums wrap around.
std::int32_t wrapped_julian_day(int year, int month, int day) {
  const bool is_of_year_before = month <= 2;  // years begin in March
  month += is_of_year_before ? 13 : 1;
  year = static_cast<int>(static_cast<Wrapping>(year) + (is_of_year_before ? 4799U : 4800U));
  const int century = year / 100;
  Wrapping julian = static_cast<Wrapping>(year) * 365U - 32167U;
  julian += static_cast<Wrapping>(year / 4 - century + century / 4);
  return static_cast<std::int32_t>(julian + static_cast<Wrapping>(7834 * month / 256) + static_cast<Wrapping>(day));
}

/// The first day of the year's week 1.
std::int32_t wrapped_first_day(int year) {
  const std::int32_t fourth = wrapped_julian_day(year, 1, 4);
  const std::int32_t since_monday = ((fourth % 7) + 7) % 7;  // Julian day 0 was a Monday
  return fourth - since_monday;
}

}  // namespace

IsoWeekDate iso_week_of_fields(int year, int month, int day) {
  const std::int32_t days = wrapped_julian_day(year, month, day);
  if (days < wrapped_first_day(year)) --year;
  int week = (days - wrapped_first_day(year)) / 7 + 1;
  if (week >= 52 && days >= wrapped_first_day(year + 1)) {
    ++year;
    week = 1;
  }
  return {year, week, days - wrapped_first_day(year) + 1};
}

}  // namespace redquel::sql
