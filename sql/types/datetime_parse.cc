#include <limits>

#include "sql/error.h"
#include "sql/types/datetime.h"
#include "sql/types/datetime_decoder.h"
#include "sql/types/datetime_tokens.h"
#include "sql/types/zoned_time.h"
#include "sql/value_errors.h"

// Input of date, time and timestamps. What redquel itself writes, ISO in full width, takes a short way; everything
// else, errors too, goes through the decoder.
namespace redquel::sql {
namespace {

/// A cursor over ISO text of fixed width.
class IsoScanner {
 public:
  explicit IsoScanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool at_end() const { return at_ == end_; }
  bool take(char c) { return at_ != end_ && *at_ == c ? (++at_, true) : false; }

  template <int width>
  bool number(int& out) {
    if (end_ - at_ < width) return false;
    int value = 0;
    for (int i = 0; i < width; ++i) {
      const auto digit = static_cast<unsigned>(at_[i] - '0');
      if (digit > 9) return false;
      value = value * 10 + static_cast<int>(digit);
    }
    at_ += width;
    out = value;
    return true;
  }

  bool date(std::int32_t& days) {
    int year = 0, month = 0, day = 0;
    if (!number<4>(year) || !take('-') || !number<2>(month) || !take('-') || !number<2>(day)) return false;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) return false;
    days = days_from_civil(year, month, day);
    return true;
  }

  /// hh:mm:ss[.f], below 24:00.
  bool time(std::int64_t& microseconds) {
    int hour = 0, minute = 0, second = 0;
    if (!number<2>(hour) || !take(':') || !number<2>(minute) || !take(':') || !number<2>(second)) return false;
    if (hour > 23 || minute > 59 || second > 59) return false;
    microseconds = (hour * 3600L + minute * 60L + second) * kMicrosecondsPerSecond;
    if (!take('.')) return true;
    std::int64_t unit = kMicrosecondsPerSecond;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
      unit /= 10;
      if (unit == 0) return false;  // more than six digits are rounded elsewhere
      microseconds += unit * (*at_ - '0');
    }
    return true;
  }

  /// +hh[:mm] in seconds east.
  bool offset(std::int32_t& seconds) {
    const bool west = at_ != end_ && *at_ == '-';
    if (!west && !(at_ != end_ && *at_ == '+')) return false;
    ++at_;
    int hours = 0, minutes = 0;
    if (!number<2>(hours) || hours > 15) return false;
    if (take(':') && (!number<2>(minutes) || minutes > 59)) return false;
    seconds = (hours * 60 + minutes) * 60;
    if (west) seconds = -seconds;
    return true;
  }

 private:
  const char* at_;
  const char* end_;
};

DecodedDateTime decode_text(std::string_view text, std::string_view type, bool time_only,
                            const SessionSettings& settings, Now now) {
  DateTimeFields fields;
  DecodedDateTime decoded;
  ParseFailure failure = ParseFailure::kBadFormat;
  if (fields.split(text)) {
    DateTimeDecoder decoder(settings, now ? *now : current_timestamp(), time_only);
    failure = decoder.decode(fields, decoded);
  }
  if (failure != ParseFailure::kNone) throw_parse_failure(failure, text, type);
  return decoded;
}

/// Returns true if the days of the date can be counted without overflow: from 4713 BC to the end of the Julian day's range.
bool is_countable(const DecodedDateTime& date) {
  return (date.year > -4713 || (date.year == -4713 && date.month >= 11)) &&
         (date.year < 5874898 || (date.year == 5874898 && date.month < 6));
}

std::int64_t time_of(const DecodedDateTime& value) {
  return (value.hour * 3600L + value.minute * 60L + value.second) * kMicrosecondsPerSecond + value.microsecond;
}

std::int64_t timestamp_of(const DecodedDateTime& value, std::string_view text, bool with_zone) {
  switch (value.kind) {
    case DecodedDateTime::Kind::kEpoch:
      return -kEpochUnixSeconds * kMicrosecondsPerSecond;
    case DecodedDateTime::Kind::kInfinity:
      return kTimestampInfinity;
    case DecodedDateTime::Kind::kNegativeInfinity:
      return kTimestampNegativeInfinity;
    case DecodedDateTime::Kind::kMoment:
      break;
  }
  if (is_countable(value)) {
    const Int128 days = days_from_civil(value.year, value.month, value.day);
    Int128 result = days * kMicrosecondsPerDay + time_of(value);
    if (with_zone) result -= value.offset * kMicrosecondsPerSecond;
    if (result >= kMinTimestamp && result < kEndTimestamp) return static_cast<std::int64_t>(result);
  }
  throw datetime_out_of_range("timestamp", text);
}

}  // namespace

std::int32_t parse_date(std::string_view text, const SessionSettings& settings, Now now) {
  IsoScanner scanner(text);
  if (std::int32_t days = 0; scanner.date(days) && scanner.at_end()) return days;
  const DecodedDateTime value = decode_text(text, "date", false, settings, now);
  switch (value.kind) {
    case DecodedDateTime::Kind::kEpoch:
      return -static_cast<std::int32_t>(kEpochUnixDays);
    case DecodedDateTime::Kind::kInfinity:
      return kDateInfinity;
    case DecodedDateTime::Kind::kNegativeInfinity:
      return kDateNegativeInfinity;
    case DecodedDateTime::Kind::kMoment:
      break;
  }
  if (is_countable(value)) {
    const std::int32_t days = days_from_civil(value.year, value.month, value.day);
    if (days >= kMinDate && days < kEndDate) return days;
  }
  throw datetime_out_of_range("date", text);
}

std::int64_t parse_time(std::string_view text, const SessionSettings& settings, Now now) {
  IsoScanner scanner(text);
  if (std::int64_t time = 0; scanner.time(time) && scanner.at_end()) return time;
  return time_of(decode_text(text, "time", true, settings, now));
}

ZonedTime parse_zoned_time(std::string_view text, const SessionSettings& settings, Now now) {
  IsoScanner scanner(text);
  ZonedTime value;
  if (scanner.time(value.time) && scanner.offset(value.offset) && scanner.at_end()) return value;
  const DecodedDateTime decoded = decode_text(text, "time with time zone", true, settings, now);
  return {time_of(decoded), decoded.offset};
}

std::int64_t parse_timestamp(std::string_view text, const SessionSettings& settings, Now now) {
  IsoScanner scanner(text);
  std::int32_t days = 0;
  std::int64_t time = 0;
  if (scanner.date(days) && (scanner.at_end() || ((scanner.take(' ') || scanner.take('T')) && scanner.time(time))) &&
      scanner.at_end())
    return days * kMicrosecondsPerDay + time;
  return timestamp_of(decode_text(text, "timestamp", false, settings, now), text, false);
}

std::int64_t parse_timestamptz(std::string_view text, const SessionSettings& settings, Now now) {
  IsoScanner scanner(text);
  std::int32_t days = 0, offset = 0;
  std::int64_t time = 0;
  if (scanner.date(days) && (scanner.at_end() || ((scanner.take(' ') || scanner.take('T')) && scanner.time(time)))) {
    const std::int64_t local = days * kMicrosecondsPerDay + time;
    if (scanner.at_end()) return local - session_zone(settings).offset_of_local(local) * kMicrosecondsPerSecond;
    if ((scanner.take('Z') || scanner.offset(offset)) && scanner.at_end())
      return local - offset * kMicrosecondsPerSecond;
  }
  return timestamp_of(decode_text(text, "timestamp with time zone", false, settings, now), text, true);
}

}  // namespace redquel::sql
