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

}  // namespace redquel::sql
