#include <charconv>
#include <cstdlib>

#include "sql/types/datetime.h"

// Output in the four date styles.
namespace redquel::sql {
namespace {

constexpr std::string_view kMonthNames[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::string_view kDayNames[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

/// Collects one value in a buffer on the stack; `out` is touched once.
class TextBuffer {
 public:
  void put(char c) { *at_++ = c; }
  void put(std::string_view text) { at_ = std::copy(text.begin(), text.end(), at_); }
  void two_digits(int value) {
    *at_++ = static_cast<char>('0' + value / 10);
    *at_++ = static_cast<char>('0' + value % 10);
  }
  /// At least four digits.
  void year(int value) {
    if (value < 10000) {
      two_digits(value / 100);
      two_digits(value % 100);
    } else {
      at_ = std::to_chars(at_, buffer_ + sizeof buffer_, value).ptr;
    }
  }
  void fraction(int microsecond) {
    if (microsecond == 0) return;
    put('.');
    char* const start = at_;
    for (int i = 5; i >= 0; --i, microsecond /= 10) start[i] = static_cast<char>('0' + microsecond % 10);
    at_ = start + 6;
    while (at_[-1] == '0') --at_;
  }
  void time(const CivilTime& civil) {
    two_digits(civil.hour);
    put(':');
    two_digits(civil.minute);
    put(':');
    two_digits(civil.second);
    fraction(civil.microsecond);
  }
  void offset(std::int32_t seconds) {
    put(seconds < 0 ? '-' : '+');
    const int size = std::abs(seconds);
    two_digits(size / 3600);
    if (size % 3600 == 0) return;
    put(':');
    two_digits(size / 60 % 60);
    if (size % 60 == 0) return;
    put(':');
    two_digits(size % 60);
  }
  void append_to(std::string& out) const { out.append(buffer_, static_cast<std::size_t>(at_ - buffer_)); }

 private:
  char buffer_[96];
  char* at_ = buffer_;
};

int written_year(const CivilTime& civil) { return civil.year > 0 ? civil.year : 1 - civil.year; }

void put_date(TextBuffer& text, const CivilTime& civil, DateStyle style, DateOrder order) {
  const bool day_first = order == DateOrder::kDmy;
  const auto pair = [&](char separator) {
    text.two_digits(day_first ? civil.day : civil.month);
    text.put(separator);
    text.two_digits(day_first ? civil.month : civil.day);
    text.put(separator);
    text.year(written_year(civil));
  };
  switch (style) {
    case DateStyle::kIso:
      text.year(written_year(civil));
      text.put('-');
      text.two_digits(civil.month);
      text.put('-');
      text.two_digits(civil.day);
      break;
    case DateStyle::kSql:
      pair('/');
      break;
    case DateStyle::kPostgres:
      pair('-');
      break;
    case DateStyle::kGerman:
      text.two_digits(civil.day);
      text.put('.');
      text.two_digits(civil.month);
      text.put('.');
      text.year(written_year(civil));
      break;
  }
}

/// `zone` is null for a timestamp without one.
void put_timestamp(TextBuffer& text, std::int64_t local, const SessionSettings& settings, const TimeZone::Local* zone) {
  const CivilTime civil = civil_from_timestamp(local);
  if (settings.date_style == DateStyle::kPostgres) {
    std::int64_t days = local / kMicrosecondsPerDay;
    if (local % kMicrosecondsPerDay < 0) --days;
    const auto weekday = static_cast<std::size_t>(((days + 6) % 7 + 7) % 7);  // 2000-01-01 was a Saturday
    const std::string_view month = kMonthNames[static_cast<std::size_t>(civil.month - 1)];
    text.put(kDayNames[weekday]);
    text.put(' ');
    if (settings.date_order == DateOrder::kDmy) {
      text.two_digits(civil.day);
      text.put(' ');
      text.put(month);
    } else {
      text.put(month);
      text.put(' ');
      text.two_digits(civil.day);
    }
    text.put(' ');
    text.time(civil);
    text.put(' ');
    text.year(written_year(civil));
  } else {
    put_date(text, civil, settings.date_style, settings.date_order);
    text.put(' ');
    text.time(civil);
  }
  if (zone != nullptr) {
    constexpr std::size_t kMaxAbbreviation = 10;
    if (settings.date_style == DateStyle::kIso) {
      text.offset(zone->offset);
    } else {
      text.put(' ');
      text.put(zone->abbreviation.substr(0, kMaxAbbreviation));
    }
  }
  if (civil.year <= 0) text.put(" BC");
}

bool append_infinity(bool positive, bool negative, std::string& out) {
  if (positive) out += "infinity";
  if (negative) out += "-infinity";
  return positive || negative;
}

}  // namespace

void append_date(std::int32_t date, const SessionSettings& settings, std::string& out) {
  if (append_infinity(date == kDateInfinity, date == kDateNegativeInfinity, out)) return;
  TextBuffer text;
  const CivilTime civil = civil_from_days(date);
  put_date(text, civil, settings.date_style, settings.date_order);
  if (civil.year <= 0) text.put(" BC");
  text.append_to(out);
}

void append_time(std::int64_t time, std::string& out) {
  TextBuffer text;
  CivilTime civil;
  civil.hour = static_cast<int>(time / kMicrosecondsPerHour);
  civil.minute = static_cast<int>(time / kMicrosecondsPerMinute % 60);
  civil.second = static_cast<int>(time / kMicrosecondsPerSecond % 60);
  civil.microsecond = static_cast<int>(time % kMicrosecondsPerSecond);
  text.time(civil);
  text.append_to(out);
}

void append_timestamp(std::int64_t timestamp, const SessionSettings& settings, std::string& out) {
  if (append_infinity(timestamp == kTimestampInfinity, timestamp == kTimestampNegativeInfinity, out)) return;
  TextBuffer text;
  put_timestamp(text, timestamp, settings, nullptr);
  text.append_to(out);
}

void append_timestamptz(std::int64_t timestamp, const SessionSettings& settings, std::string& out) {
  if (append_infinity(timestamp == kTimestampInfinity, timestamp == kTimestampNegativeInfinity, out)) return;
  const TimeZone::Local zone = session_zone(settings).at(timestamp);
  TextBuffer text;
  put_timestamp(text, timestamp + zone.offset * kMicrosecondsPerSecond, settings, &zone);
  text.append_to(out);
}

}  // namespace redquel::sql
