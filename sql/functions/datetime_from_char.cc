#include "sql/functions/datetime_from_char.h"

#include <optional>
#include <string>

#include "sql/error.h"
#include "sql/functions/date_field_reader.h"
#include "sql/functions/iso_week.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

using Text = std::string_view;
using Fields = DateFields;

/// A date and a time of day that the fields make.
struct Reading {
  CivilTime time{.year = 0};
  Fields fields;
};

class FieldAssembler {
 public:
  FieldAssembler(const Fields& fields, Text text) : fields_(fields), text_(text) {}

  Reading assemble() {
    set_time();
    set_year();
    if (fields_.julian != 0) set_date(fields_.julian - kEpochJulian);
    set_week();
    if (fields_.week_of_month != 0) fields_.day = (fields_.week_of_month - 1) * 7 + 1;
    if (fields_.day != 0) {
      time_.day = fields_.day;
      has_day_ = true;
    }
    if (fields_.month != 0) {
      time_.month = fields_.month;
      has_month_ = true;
    }
    if (fields_.day_of_year != 0 && (time_.month <= 1 || time_.day <= 1)) set_day_of_year();
    const std::int64_t fraction = std::int64_t{fields_.millisecond} * 1000 + fields_.microsecond;
    check_date();
    if (time_.hour < 0 || time_.hour >= 24 || time_.minute < 0 || time_.minute >= 60 || time_.second < 0 ||
        time_.second >= 60 || fraction < 0 || fraction >= kMicrosecondsPerSecond) {
      throw_out_of_range();
    }
    time_.microsecond = static_cast<int>(fraction);
    return {time_, fields_};
  }

 private:
  [[noreturn]] void throw_out_of_range() const {
    throw SqlError(sqlstate::kDatetimeFieldOverflow, "date/time field value out of range: \"" + std::string(text_) + "\"");
  }

  void set_time() {
    if (fields_.second_of_day != 0) {
      time_.hour = fields_.second_of_day / 3600;
      time_.minute = fields_.second_of_day % 3600 / 60;
      time_.second = fields_.second_of_day % 60;
    }
    if (fields_.second != 0) time_.second = fields_.second;
    if (fields_.minute != 0) time_.minute = fields_.minute;
    if (fields_.hour != 0) time_.hour = fields_.hour;
    if (!fields_.twelve_hours) return;
    if (time_.hour < 1 || time_.hour > 12) {
      throw SqlError(sqlstate::kInvalidDatetimeFormat, fmt::format("hour \"{}\" is invalid for the 12-hour clock", time_.hour))
          .hint("Use the 24-hour clock, or give an hour between 1 and 12.");
    }
    if (fields_.afternoon != 0 && time_.hour < 12) {
      time_.hour += 12;
    } else if (fields_.afternoon == 0 && time_.hour == 12) {
      time_.hour = 0;
    }
  }

  void set_year() {
    int century = fields_.before_christ != 0 ? -fields_.century : fields_.century;
    if (fields_.year == 0 && century == 0) return;
    if (fields_.year == 0) {
      time_.year = century >= 0 ? (century - 1) * 100 + 1 : century * 100 + 1;
    } else if (century != 0 && fields_.year_digits <= 2) {
      const int low = fields_.year % 100;
      if (low == 0) {
        time_.year = century * 100 + (century >= 0 ? 0 : 1);
      } else {
        time_.year = century >= 0 ? (century - 1) * 100 + low : (century + 1) * 100 - low + 1;
      }
    } else {
      time_.year = fields_.before_christ != 0 ? -fields_.year : fields_.year;
      if (time_.year < 0) ++time_.year;
    }
    has_year_ = true;
  }

  void set_date(std::int32_t days) {
    const CivilTime civil = civil_from_days(days);
    time_.year = civil.year;
    time_.month = civil.month;
    time_.day = civil.day;
    has_year_ = has_month_ = has_day_ = true;
  }

  void set_week() {
    if (fields_.week == 0) return;
    if (fields_.convention != Fields::Convention::kIso) {
      fields_.day_of_year = (fields_.week - 1) * 7 + 1;
      return;
    }
    std::int32_t day = iso_week_start(time_.year, fields_.week);
    // Sunday is 1 here, and the last day there.
    if (fields_.day_of_week > 1) day += fields_.day_of_week - 2;
    if (fields_.day_of_week == 1) day += 6;
    set_date(day);
  }

  void set_day_of_year() {
    if (time_.year == 0 && fields_.before_christ == 0) {
      throw SqlError(sqlstate::kInvalidDatetimeFormat, "cannot calculate day of year without year information");
    }
    if (fields_.convention == Fields::Convention::kIso) {
      set_date(iso_week_start(time_.year, 1) + fields_.day_of_year - 1);
      return;
    }
    int month = 1, left = fields_.day_of_year;
    // Days beyond the year's last are in month 13, which is refused unless a month was given.
    while (month <= 12 && left > days_in_month(time_.year, month)) left -= days_in_month(time_.year, month++);
    if (time_.month <= 1) time_.month = month;
    if (time_.day <= 1) time_.day = left;
    has_month_ = has_day_ = true;
  }

  void check_date() const {
    if (has_month_ && (time_.month < 1 || time_.month > 12)) throw_out_of_range();
    if (has_day_ && (time_.day < 1 || time_.day > 31)) throw_out_of_range();
    if (has_year_ && has_month_ && has_day_ && time_.day > days_in_month(time_.year, time_.month)) throw_out_of_range();
  }

  Fields fields_;
  Text text_;
  CivilTime time_{.year = 0};
  bool has_year_ = false, has_month_ = false, has_day_ = false;
};

Reading read(Text text, Text picture, bool standard) {
  return FieldAssembler(read_date_fields(text, picture, standard), text).assemble();
}

/// The zone that TZH and TZM gave, in seconds east.
std::optional<int> zone_offset(const Fields& fields, Text text) {
  if (fields.zone_sign == 0) return std::nullopt;
  if (fields.zone_hours < 0 || fields.zone_hours > 15 || fields.zone_minutes < 0 || fields.zone_minutes >= 60) {
    throw SqlError(sqlstate::kInvalidTimeZoneDisplacementValue, "time zone displacement out of range: \"" + std::string(text) + "\"");
  }
  return fields.zone_sign * (fields.zone_hours * 3600 + fields.zone_minutes * 60);
}

/// Julian days that a date can count.
bool is_valid_year(int year) { return year >= -4713 && year < 5874898; }

std::int64_t timestamptz_of(const Reading& reading, Text text, const TimeZone& zone) {
  const CivilTime& time = reading.time;
  const auto out_of_range = [] { return datetime_out_of_range("timestamp"); };
  if (!is_valid_year(time.year)) throw out_of_range();
  const std::int64_t days = days_from_civil(time.year, time.month, time.day);
  if (days < kMinTimestamp / kMicrosecondsPerDay - 1 || days > kEndTimestamp / kMicrosecondsPerDay)
    throw out_of_range();
  const std::int64_t local = days * kMicrosecondsPerDay + time.hour * kMicrosecondsPerHour +
                             time.minute * kMicrosecondsPerMinute + time.second * kMicrosecondsPerSecond +
                             time.microsecond;
  const std::optional<int> written = zone_offset(reading.fields, text);
  const int offset = written ? *written : zone.offset_of_local(local);
  const std::int64_t timestamp = local - offset * kMicrosecondsPerSecond;
  if (timestamp < kMinTimestamp || timestamp >= kEndTimestamp) throw out_of_range();
  return apply_timestamp_modifier(timestamp, reading.fields.fraction_digits);
}

std::int32_t date_of(const Reading& reading, Text text) {
  const CivilTime& time = reading.time;
  static_cast<void>(zone_offset(reading.fields, text));  // read for its errors
  const auto out_of_range = [&] { return datetime_out_of_range("date", text); };
  if (!is_valid_year(time.year)) throw out_of_range();
  const std::int32_t days = days_from_civil(time.year, time.month, time.day);
  if (days < kMinDate || days >= kEndDate) throw out_of_range();
  return days;
}

}  // namespace

std::int64_t timestamptz_from_char(Text text, Text picture, const TimeZone& zone) {
  return timestamptz_of(read(text, picture, false), text, zone);
}
std::int32_t date_from_char(Text text, Text picture) { return date_of(read(text, picture, false), text); }

std::int64_t timestamptz_from_standard_template(Text text, Text picture, const TimeZone& zone) {
  return timestamptz_of(read(text, picture, true), text, zone);
}
std::int32_t date_from_standard_template(Text text, Text picture) { return date_of(read(text, picture, true), text); }

}  // namespace redquel::sql
