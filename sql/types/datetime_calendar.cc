#include <chrono>

#include "sql/types/datetime.h"

// The proleptic Gregorian calendar, counted from 1 March so that the leap day is a year's last.
namespace redquel::sql {
namespace {

constexpr std::int64_t kDaysPerEra = 146097;             // 400 years
constexpr std::int64_t kEpochFromMarchOfYear0 = 730425;  // 0000-03-01 to 2000-01-01

}  // namespace

std::int32_t days_from_civil(int year, int month, int day) {
  const std::int64_t y = static_cast<std::int64_t>(year) - (month <= 2);
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t year_of_era = y - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return static_cast<std::int32_t>(era * kDaysPerEra + day_of_era - kEpochFromMarchOfYear0);
}

CivilTime civil_from_days(std::int32_t days) {
  const std::int64_t z = days + kEpochFromMarchOfYear0;
  const std::int64_t era = (z >= 0 ? z : z - (kDaysPerEra - 1)) / kDaysPerEra;
  const std::int64_t day_of_era = z - era * kDaysPerEra;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / (kDaysPerEra - 1)) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t march_month = (5 * day_of_year + 2) / 153;
  CivilTime civil;
  civil.day = static_cast<int>(day_of_year - (153 * march_month + 2) / 5 + 1);
  civil.month = static_cast<int>(march_month + (march_month < 10 ? 3 : -9));
  civil.year = static_cast<int>(year_of_era + era * 400 + (civil.month <= 2));
  return civil;
}

CivilTime civil_from_timestamp(std::int64_t timestamp) {
  std::int64_t days = timestamp / kMicrosecondsPerDay, time = timestamp % kMicrosecondsPerDay;
  if (time < 0) time += kMicrosecondsPerDay, --days;
  CivilTime civil = civil_from_days(static_cast<std::int32_t>(days));
  civil.hour = static_cast<int>(time / kMicrosecondsPerHour);
  civil.minute = static_cast<int>(time / kMicrosecondsPerMinute % 60);
  civil.second = static_cast<int>(time / kMicrosecondsPerSecond % 60);
  civil.microsecond = static_cast<int>(time % kMicrosecondsPerSecond);
  return civil;
}

bool is_leap_year(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in_month(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : kDays[month - 1];
}

std::int64_t current_timestamp() {
  using namespace std::chrono;
  const auto since_1970 = duration_cast<microseconds>(system_clock::now().time_since_epoch());
  return since_1970.count() - kEpochUnixSeconds * kMicrosecondsPerSecond;
}

}  // namespace redquel::sql
