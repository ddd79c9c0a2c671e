#include "sql/functions/datetime_to_char.h"

#include <cstdlib>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/datetime_picture.h"
#include "sql/functions/iso_week.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"

namespace redquel::sql {
namespace {

/// The value to print as fields. Fields of an interval may be negative.
struct Moment {
  int year = 0, month = 0, day = 0;
  std::int64_t hour = 0;
  int minute = 0, second = 0, microsecond = 0;
  bool is_interval = false;
  std::int32_t days = 0;  // since 2000-01-01; not of intervals
  int day_of_year = 0;
  int offset = 0;  // seconds east
  std::string_view zone;
};

constexpr std::int64_t kHour = kMicrosecondsPerHour, kMinute = kMicrosecondsPerMinute;

Moment moment_of(std::int64_t local) {
  const CivilTime civil = civil_from_timestamp(local);
  Moment moment;
  moment.year = civil.year;
  moment.month = civil.month;
  moment.day = civil.day;
  moment.hour = civil.hour;
  moment.minute = civil.minute;
  moment.second = civil.second;
  moment.microsecond = civil.microsecond;
  moment.days = days_from_civil(civil.year, civil.month, civil.day);
  moment.day_of_year = moment.days - days_from_civil(civil.year, 1, 1) + 1;
  return moment;
}

Moment moment_of(const Interval& interval) {
  Moment moment;
  moment.is_interval = true;
  moment.year = interval.months / 12;
  moment.month = interval.months % 12;
  moment.day = interval.days;
  moment.hour = interval.microseconds / kHour;
  moment.minute = static_cast<int>(interval.microseconds % kHour / kMinute);
  moment.second = static_cast<int>(interval.microseconds % kMinute / kMicrosecondsPerSecond);
  moment.microsecond = static_cast<int>(interval.microseconds % kMicrosecondsPerSecond);
  // Wraps around where there are too many days, as PostgreSQL's does.
  moment.day_of_year = static_cast<int>((std::int64_t{moment.year} * 12 + moment.month) * 30 + moment.day);
  return moment;
}

class MomentWriter {
 public:
  MomentWriter(const Moment& moment, std::string& out) : moment_(moment), out_(out) {}

  void write(const PictureItem& item) {
    if (item.kind != PictureItem::Kind::kField) {
      out_ += item.character;
      return;
    }
    if (moment_.is_interval) refuse_for_interval(item.pattern->field);
    write_field(item);
  }

 private:
  static void refuse_for_interval(DateField field) {
    switch (field) {
      using enum DateField;
      case kEra:
      case kDayName:
      case kDayAbbreviation:
      case kDayOfWeek:
      case kIsoDayOfWeek:
      case kMonthName:
      case kMonthAbbreviation:
      case kOffset:
      case kZoneName:
      case kZoneHours:
      case kZoneMinutes:
        throw SqlError(sqlstate::kInvalidDatetimeFormat, "invalid format specification for an interval value")
            .hint("Intervals are not tied to specific calendar dates.");
      default:
        break;
    }
  }

  /// Zeros up to `width` (the sign counts) unless in fill mode, then the ordinal suffix.
  void number(const PictureItem& item, std::int64_t value, int width) {
    const std::size_t begin = out_.size();
    fmt::format_to(std::back_inserter(out_), "{:0{}}", value, item.fill_mode ? 0 : width);
    ordinal(item, begin);
  }
  void signed_number(const PictureItem& item, std::int64_t value, int width) {
    number(item, value, value >= 0 ? width : width + 1);
  }
  void ordinal(const PictureItem& item, std::size_t begin) {
    if (item.ordinal == PictureItem::Ordinal::kNone) return;
    out_ += ordinal_suffix(out_.substr(begin), item.ordinal == PictureItem::Ordinal::kUpper);
  }

  void name(const PictureItem& item, std::string_view name, std::size_t width) {
    const std::size_t begin = out_.size();
    for (char c : name) {
      const LetterCase letters = item.pattern->letters;
      out_ += letters == LetterCase::kUpper ? to_upper(c) : letters == LetterCase::kLower ? to_lower(c) : c;
    }
    if (item.fill_mode || item.translated) return;
    while (out_.size() - begin < width) out_ += ' ';
  }

  void write_field(const PictureItem& item) {
    const Moment& m = moment_;
    switch (item.pattern->field) {
      using enum DateField;
      case kEra:
        name(item, two_words(item, m.year <= 0, "BC", "AD", "B.C.", "A.D."), 0);
        break;
      case kMeridiem:
        name(item, two_words(item, m.hour % 24 >= 12, "PM", "AM", "P.M.", "A.M."), 0);
        break;
      case kHour12:
        number(item, m.hour % 12 == 0 ? 12 : m.hour % 12, m.hour >= 0 ? 2 : 3);
        break;
      case kHour24:
        signed_number(item, m.hour, 2);
        break;
      case kMinute:
        signed_number(item, m.minute, 2);
        break;
      case kSecond:
        signed_number(item, m.second, 2);
        break;
      case kFraction:
        fraction(item, item.pattern->digits);
        break;
      case kMillisecond:
        fraction(item, 3);
        break;
      case kMicrosecond:
        fraction(item, 6);
        break;
      case kSecondOfDay: {
        const std::size_t begin = out_.size();
        out_ += std::to_string(m.hour * 3600 + m.minute * 60 + m.second);
        ordinal(item, begin);
        break;
      }
      case kZoneName:
        name(item, m.zone, 0);
        break;
      case kZoneHours:
        fmt::format_to(std::back_inserter(out_), "{}{:02}", m.offset >= 0 ? '+' : '-', std::abs(m.offset) / 3600);
        break;
      case kZoneMinutes:
        fmt::format_to(std::back_inserter(out_), "{:02}", std::abs(m.offset) % 3600 / 60);
        break;
      case kOffset:
        offset(item);
        break;
      default:
        write_date_field(item);
    }
  }

  static std::string_view two_words(const PictureItem& item, bool second, std::string_view plain_second,
                                    std::string_view plain_first, std::string_view dotted_second,
                                    std::string_view dotted_first) {
    if (item.pattern->dotted) return second ? dotted_second : dotted_first;
    return second ? plain_second : plain_first;
  }

  void fraction(const PictureItem& item, int digits) {
    int value = moment_.microsecond;
    for (int i = digits; i < 6; ++i) value /= 10;
    const std::size_t begin = out_.size();
    fmt::format_to(std::back_inserter(out_), "{:0{}}", value, digits);
    ordinal(item, begin);
  }

  void offset(const PictureItem& item) {
    const int seconds = std::abs(moment_.offset);
    fmt::format_to(std::back_inserter(out_), "{}{:0{}}", moment_.offset >= 0 ? '+' : '-', seconds / 3600,
                   item.fill_mode ? 0 : 2);
    if (seconds % 3600 != 0) fmt::format_to(std::back_inserter(out_), ":{:02}", seconds % 3600 / 60);
  }

  void write_date_field(const PictureItem& item) {
    const Moment& m = moment_;
    switch (item.pattern->field) {
      using enum DateField;
      case kMonthName:
        if (m.month != 0) name(item, kMonthNames[m.month - 1], 9);
        break;
      case kMonthAbbreviation:
        if (m.month != 0) name(item, kMonthNames[m.month - 1].substr(0, 3), 0);
        break;
      case kMonth:
        signed_number(item, m.month, 2);
        break;
      case kDayName:
        name(item, kDayNames[day_of_week(m.days)], 9);
        break;
      case kDayAbbreviation:
        name(item, kDayNames[day_of_week(m.days)].substr(0, 3), 0);
        break;
      case kDayOfYear:
        number(item, m.day_of_year, 3);
        break;
      case kIsoDayOfYear:
        number(item, iso_date().day_of_year, 3);
        break;
      case kDay:
        number(item, m.day, 2);
        break;
      case kDayOfWeek:
        number(item, day_of_week(m.days) + 1, 0);
        break;
      case kIsoDayOfWeek:
        number(item, (day_of_week(m.days) + 6) % 7 + 1, 0);
        break;
      case kWeek:
        number(item, (m.day_of_year - 1) / 7 + 1, 2);
        break;
      case kIsoWeek:
        number(item, iso_date().week, 2);
        break;
      case kQuarter:
        if (m.month != 0) number(item, (m.month - 1) / 3 + 1, 0);
        break;
      case kCentury:
        century(item);
        break;
      case kYearWithComma: {
        const std::size_t begin = out_.size();
        const int year = shown_year(m.year);
        fmt::format_to(std::back_inserter(out_), "{},{:03}", year / 1000, year % 1000);
        ordinal(item, begin);
        break;
      }
      case kYear:
        year(item, m.year);
        break;
      case kIsoYear:
        year(item, iso_date().year);
        break;
      case kRomanMonth:
        roman_month(item);
        break;
      case kWeekOfMonth:
        number(item, (m.day - 1) / 7 + 1, 0);
        break;
      case kJulian:
        number(item, julian_day(), 0);
        break;
      default:
        break;
    }
  }

  /// For an interval PostgreSQL treats the fields as a date.
  std::int32_t date() const {
    return moment_.is_interval ? days_from_civil(moment_.year, moment_.month, moment_.day) : moment_.days;
  }
  IsoWeekDate iso_date() const {
    return moment_.is_interval ? iso_week_of_fields(moment_.year, moment_.month, moment_.day) : iso_week_date(date());
  }
  std::int64_t julian_day() const { return std::int64_t{date()} + kEpochJulian; }

  /// There is no year 0: 1 BC is printed as 1.
  int shown_year(int year) const { return moment_.is_interval || year > 0 ? year : 1 - year; }

  void year(const PictureItem& item, int year) {
    const int digits = item.pattern->digits;
    int shown = shown_year(year);
    if (digits == 3) shown %= 1000;
    if (digits == 2) shown %= 100;
    if (digits == 1) shown %= 10;
    if (digits == 1) {
      number(item, shown, 0);
    } else {
      number(item, shown, shown_year(moment_.year) >= 0 ? digits : digits + 1);
    }
  }

  void century(const PictureItem& item) {
    int century = moment_.year / 100;
    if (!moment_.is_interval) century = moment_.year > 0 ? (moment_.year - 1) / 100 + 1 : moment_.year / 100 - 1;
    if (century <= 99 && century >= -99) {
      signed_number(item, century, 2);
    } else {
      number(item, century, 0);
    }
  }

  void roman_month(const PictureItem& item) {
    if (moment_.month == 0 && moment_.year == 0) return;
    int index = moment_.month - 1;
    if (moment_.month == 0) index = moment_.year >= 0 ? 11 : 0;
    if (moment_.month < 0) index = 12 + moment_.month;
    name(item, kRomanMonths[index], 4);
  }

  const Moment& moment_;
  std::string& out_;
};

void write(const Moment& moment, std::string_view text, std::string& out) {
  MomentWriter writer(moment, out);
  const auto picture = datetime_picture(text);
  for (const PictureItem& item : picture->items) writer.write(item);
}

}  // namespace

bool timestamp_to_char(std::int64_t timestamp, std::string_view picture, std::string& out) {
  if (picture.empty() || !is_finite_timestamp(timestamp)) return false;
  write(moment_of(timestamp), picture, out);
  return true;
}

bool timestamptz_to_char(std::int64_t timestamp, std::string_view picture, const TimeZone& zone, std::string& out) {
  if (picture.empty() || !is_finite_timestamp(timestamp)) return false;
  const TimeZone::Local local = zone.at(timestamp);
  Moment moment = moment_of(timestamp + local.offset * kMicrosecondsPerSecond);
  moment.offset = local.offset;
  moment.zone = local.abbreviation;
  write(moment, picture, out);
  return true;
}

bool interval_to_char(const Interval& interval, std::string_view picture, std::string& out) {
  if (picture.empty()) return false;
  write(moment_of(interval), picture, out);
  return true;
}

}  // namespace redquel::sql
