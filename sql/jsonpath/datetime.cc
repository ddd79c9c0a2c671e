#include "sql/jsonpath/datetime.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/functions/date_field_reader.h"
#include "sql/functions/datetime_from_char.h"
#include "sql/functions/datetime_picture.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"
#include "sql/types/json_text.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// Reads numbers and the characters between them from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  /// One to `most` digits, a number from `low` to `high`.
  bool number(int& value, std::size_t most, int low, int high) {
    const std::size_t start = at_;
    for (value = 0; is_digit(peek()) && at_ - start < most; ++at_) value = value * 10 + (text_[at_] - '0');
    return at_ > start && value >= low && value <= high;
  }
  /// Microseconds behind the point.
  bool fraction(std::int64_t& microseconds) {
    std::int64_t unit = 100'000;
    const std::size_t start = at_;
    for (microseconds = 0; is_digit(peek()) && at_ - start < 6; ++at_, unit /= 10) microseconds += (text_[at_] - '0') * unit;
    return at_ > start;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

bool read_date(Reader& reader, std::int64_t& days) {
  int year = 0, month = 0, day = 0;
  if (!reader.number(year, 4, 1, 9999) || !reader.take('-') || !reader.number(month, 2, 1, 12) || !reader.take('-')) return false;
  if (!reader.number(day, 2, 1, 31) || day > days_in_month(year, month)) return false;
  days = days_from_civil(year, month, day);
  return true;
}

bool read_time(Reader& reader, std::int64_t& time) {
  int hour = 0, minute = 0, second = 0;
  if (!reader.number(hour, 2, 0, 23) || !reader.take(':') || !reader.number(minute, 2, 0, 59)) return false;
  if (!reader.take(':') || !reader.number(second, 2, 0, 59)) return false;
  std::int64_t fraction = 0;
  if (reader.take('.') && !reader.fraction(fraction)) return false;
  time = hour * kMicrosecondsPerHour + minute * kMicrosecondsPerMinute + second * kMicrosecondsPerSecond + fraction;
  return true;
}

bool read_zone(Reader& reader, std::int32_t& zone) {
  const bool west = reader.peek() == '-';
  if (!reader.take('-') && !reader.take('+')) return false;
  int hours = 0, minutes = 0;
  if (!reader.number(hours, 2, 0, 15)) return false;
  if (reader.take(':') && !reader.number(minutes, 2, 0, 59)) return false;
  zone = (west ? -1 : 1) * (hours * 3600 + minutes * 60);
  return true;
}

bool is_date_field(DateField field) {
  switch (field) {
    case DateField::kMeridiem:
    case DateField::kFraction:
    case DateField::kHour24:
    case DateField::kHour12:
    case DateField::kMinute:
    case DateField::kMillisecond:
    case DateField::kSecondOfDay:
    case DateField::kSecond:
    case DateField::kMicrosecond:
    case DateField::kZoneHours:
    case DateField::kZoneMinutes:
    case DateField::kZoneName:
    case DateField::kOffset:
    case DateField::kFixed:
      return false;
    default:
      return true;
  }
}
bool is_zone_field(DateField field) {
  return field == DateField::kZoneHours || field == DateField::kZoneMinutes || field == DateField::kZoneName ||
         field == DateField::kOffset;
}

void append_zone(std::int32_t zone, std::string& out) {
  const std::int32_t seconds = std::abs(zone);
  out += fmt::format("{}{:02}:{:02}", zone < 0 ? '-' : '+', seconds / 3600, seconds / 60 % 60);
}

/// "timestamptz": as the error says it.
std::string_view short_name(Oid type) { return type_info(type).name; }

[[noreturn]] void throw_needs_zone(Oid from, Oid to) {
  throw SqlError(sqlstate::kFeatureNotSupported,
                 fmt::format("cannot convert value from {} to {} without time zone usage", short_name(from), short_name(to)))
      .hint("Use *_tz() function for time zone support.");
}

bool is_time(Oid type) { return type == oid::kTime || type == oid::kTimetz; }

int order(std::int64_t a, std::int64_t b) { return (a > b) - (a < b); }

}  // namespace

namespace {

/// The usual texts, quickly. nullopt: another one.
std::optional<JsonPathDatetime> parse_plain_datetime(std::string_view text) {
  Reader reader(text);
  std::int64_t days = 0, time = 0;
  std::int32_t zone = 0;
  const bool has_date = text.find('-') != std::string_view::npos && text.find('-') < text.find(':');
  if (has_date) {
    if (!read_date(reader, days)) return std::nullopt;
    if (reader.at_end()) return JsonPathDatetime{oid::kDate, days};
    if (!reader.take(' ') && !reader.take('T')) return std::nullopt;
  }
  if (!read_time(reader, time)) return std::nullopt;
  const bool zoned = !reader.at_end();
  if (zoned && (!read_zone(reader, zone) || !reader.at_end())) return std::nullopt;
  if (!has_date) return JsonPathDatetime{zoned ? oid::kTimetz : oid::kTime, time, zone};
  const std::int64_t local = days * kMicrosecondsPerDay + time;
  if (!zoned) return JsonPathDatetime{oid::kTimestamp, local};
  return JsonPathDatetime{oid::kTimestamptz, local - zone * kMicrosecondsPerSecond, zone};
}

}  // namespace

std::optional<JsonPathDatetime> parse_iso_datetime(std::string_view text) {
  if (const auto plain = parse_plain_datetime(text)) return plain;
  constexpr std::string_view kDates[] = {"", "yyyy-mm-dd ", "yyyy-mm-dd\"T\""};
  constexpr std::string_view kTimes[] = {"HH24:MI:SS.USTZH:TZM", "HH24:MI:SS.USTZH", "HH24:MI:SSTZH:TZM",
                                         "HH24:MI:SSTZH",        "HH24:MI:SS.US",    "HH24:MI:SS"};
  const auto parse = [&](const std::string& picture) -> std::optional<JsonPathDatetime> {
    try {
      return parse_datetime(text, picture);
    } catch (const SqlError&) {
      return std::nullopt;
    }
  };
  if (const auto date = parse("yyyy-mm-dd")) return date;
  for (const std::string_view date : kDates) {
    for (const std::string_view time : kTimes) {
      if (const auto found = parse(std::string(date).append(time))) return found;
    }
  }
  return std::nullopt;
}

JsonPathDatetime parse_datetime(std::string_view text, std::string_view picture) {
  bool has_date = false, has_time = false, has_zone = false;
  if (picture.empty()) throw SqlError(sqlstate::kInvalidDatetimeFormat, "datetime format is not dated and not timed");
  const DateFields fields = read_date_fields(text, picture, true);
  const auto read_picture = datetime_picture(picture, true);
  for (const PictureItem& item : read_picture->items) {
    if (item.kind != PictureItem::Kind::kField || item.pattern->field == DateField::kFixed) continue;
    if (is_zone_field(item.pattern->field)) {
      has_zone = true;
    } else {
      (is_date_field(item.pattern->field) ? has_date : has_time) = true;
    }
  }
  if (!has_date && !has_time) throw SqlError(sqlstate::kInvalidDatetimeFormat, "datetime format is not dated and not timed");
  if (has_date && !has_time) {
    if (has_zone) throw SqlError(sqlstate::kInvalidDatetimeFormat, "datetime format is zoned but not timed");
    return {oid::kDate, date_from_standard_template(text, picture)};
  }
  const std::int64_t timestamp = timestamptz_from_standard_template(text, picture, time_zone_named("UTC"));
  std::int32_t zone = 0;
  if (has_zone) {
    if (fields.zone_sign == 0) {
      throw SqlError(sqlstate::kInvalidDatetimeFormat,
                     fmt::format("missing time zone in input string for type {}", has_date ? "timestamptz" : "timetz"));
    }
    zone = fields.zone_sign * (fields.zone_hours * 3600 + fields.zone_minutes * 60);
  }
  if (has_date) return {has_zone ? oid::kTimestamptz : oid::kTimestamp, timestamp, zone};
  const std::int64_t local = timestamp + zone * kMicrosecondsPerSecond;
  const std::int64_t time = (local % kMicrosecondsPerDay + kMicrosecondsPerDay) % kMicrosecondsPerDay;
  return {has_zone ? oid::kTimetz : oid::kTime, time, zone};
}

std::string datetime_text(const JsonPathDatetime& value) {
  std::string text = "\"";
  switch (value.type) {
    case oid::kDate:
      append_date(static_cast<std::int32_t>(value.value), {}, text);
      break;
    case oid::kTime:
    case oid::kTimetz:
      append_time(value.value, text);
      break;
    default: {
      const std::int64_t local = value.value + value.zone * kMicrosecondsPerSecond;
      append_timestamp(local, {}, text);
      std::ranges::replace(text, ' ', 'T');
    }
  }
  if (value.type == oid::kTimetz || value.type == oid::kTimestamptz) append_zone(value.zone, text);
  return text + '"';
}

std::string_view datetime_type_name(const JsonPathDatetime& value) { return type_info(value.type).display_name; }

std::optional<int> compare_datetimes(const JsonPathDatetime& a, const JsonPathDatetime& b, bool with_zone,
                                     const EvaluationContext& context) {
  if (is_time(a.type) != is_time(b.type)) return std::nullopt;
  const bool zoned_a = a.type == oid::kTimetz || a.type == oid::kTimestamptz;
  const bool zoned_b = b.type == oid::kTimetz || b.type == oid::kTimestamptz;
  if (zoned_a != zoned_b && !with_zone) throw_needs_zone(zoned_a ? b.type : a.type, zoned_a ? a.type : b.type);
  const TimeZone& zone = session_zone(*context.settings);
  if (is_time(a.type)) {
    if (!zoned_a && !zoned_b) return order(a.value, b.value);
    const std::int32_t session = zone.at(context.transaction_timestamp).offset;
    const std::int32_t zone_a = zoned_a ? a.zone : session, zone_b = zoned_b ? b.zone : session;
    const int instants = order(a.value - zone_a * kMicrosecondsPerSecond, b.value - zone_b * kMicrosecondsPerSecond);
    return instants != 0 ? instants : order(zone_b, zone_a);
  }
  const auto instant = [&](const JsonPathDatetime& value, bool zoned) {
    // Dates beyond all timestamps are before or behind all of them.
    constexpr std::int64_t kLastDay = std::numeric_limits<std::int64_t>::max() / kMicrosecondsPerDay - 1;
    if (value.type == oid::kDate && value.value > kLastDay) return std::numeric_limits<std::int64_t>::max();
    const std::int64_t timestamp = value.type == oid::kDate ? value.value * kMicrosecondsPerDay : value.value;
    return zoned || zoned_a == zoned_b ? timestamp : timestamptz_from_local(timestamp, zone);
  };
  return order(instant(a, zoned_a), instant(b, zoned_b));
}

}  // namespace redquel::sql
