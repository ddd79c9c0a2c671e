#pragma once

#include <cstdint>
#include <string_view>

namespace redquel::sql {

/// The fields that a text gave for its template; 0 means absent, as in PostgreSQL.
struct DateFields {
  int hour = 0, minute = 0, second = 0, millisecond = 0, microsecond = 0, second_of_day = 0;
  int day_of_week = 0, day = 0, day_of_year = 0, month = 0, year = 0, century = 0, julian = 0, week = 0,
      week_of_month = 0;
  int afternoon = 0, before_christ = 0;
  int year_digits = 0;
  bool twelve_hours = false;
  int fraction_digits = -1;  // of FF1 to FF6: what the result is rounded to
  int zone_sign = 0, zone_hours = 0, zone_minutes = 0;
  enum class Convention : std::uint8_t { kNone, kGregorian, kIso } convention = Convention::kNone;
};

/// Reads a text along a template of to_timestamp. 22007 where it does not follow it, 22008 where a number is too large,
/// 0A000 for patterns that only to_char has. `standard`: as SQL/JSON's datetime() has it, character by character and to the end.
DateFields read_date_fields(std::string_view text, std::string_view picture, bool standard = false);

}  // namespace redquel::sql
