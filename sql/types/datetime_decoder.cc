#include "sql/types/datetime_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"

namespace redquel::sql {
namespace {

constexpr int kMaxOffsetHour = 15;
/// Years beyond this are out of every type's range; arithmetic stays far from overflow below it.
constexpr int kFirstYear = -4714, kLastYear = 5'874'898;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/// 24:00:00 is the last time of a day.
bool exceeds_day(int hour, int minute, int second, int microsecond) {
  return (hour * 3600L + minute * 60L + second) * kMicrosecondsPerSecond + microsecond > kMicrosecondsPerDay;
}

int decode_digits(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace

ParseFailure DateTimeDecoder::decode(const DateTimeFields& fields, DecodedDateTime& out) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    FieldSet found;
    bool ignored = false;
    const FieldKind kind = fields[i].kind;
    const ParseFailure failure = kind == FieldKind::kWord || kind == FieldKind::kSpecial
                                     ? decode_word(fields, i, found, ignored)
                                     : decode_field(fields, i, found);
    if (failure != ParseFailure::kNone) return failure;
    if (ignored) continue;
    if (seen_.has_any(found)) return ParseFailure::kBadFormat;
    seen_ = seen_ | found;
  }
  for (const auto step : {&DateTimeDecoder::validate_date, &DateTimeDecoder::apply_meridiem,
                          time_only_ ? &DateTimeDecoder::finish_time : &DateTimeDecoder::finish_moment})
    if (const ParseFailure failure = (this->*step)(); failure != ParseFailure::kNone) return failure;
  out = value_;
  return ParseFailure::kNone;
}

ParseFailure DateTimeDecoder::decode_field(const DateTimeFields& fields, std::size_t index, FieldSet& found) {
  const std::string_view text = fields[index].text;
  switch (fields[index].kind) {
    case FieldKind::kDate:
      return decode_date_field(fields, index, found);
    case FieldKind::kTime: {
      if (!time_only_ && prefix_) {
        if (*prefix_ != TokenValue::kTime) return ParseFailure::kBadFormat;
        prefix_.reset();
      }
      TimeOfDay time;
      if (const ParseFailure failure = decode_time_of_day(text, false, time); failure != ParseFailure::kNone)
        return failure;
      // A time alone is checked at the end: PM may follow.
      if (time.hour > (time_only_ ? 1'000'000 : 24)) return ParseFailure::kFieldOverflow;
      if (!time_only_ && exceeds_day(static_cast<int>(time.hour), time.minute, time.second, time.microsecond))
        return ParseFailure::kFieldOverflow;
      value_.hour = static_cast<int>(time.hour);
      value_.minute = time.minute;
      value_.second = time.second;
      value_.microsecond = time.microsecond;
      found = kTimeFields;
      return ParseFailure::kNone;
    }
    case FieldKind::kZone:
      found = TokenKind::kZone;
      return decode_offset(text);
    default:
      return decode_number_field(fields, index, found);
  }
}

ParseFailure DateTimeDecoder::decode_date_field(const DateTimeFields& fields, std::size_t index, FieldSet& found) {
  const std::string_view text = fields[index].text;
  if (time_only_) {
    // A date is accepted where something that is no date follows it.
    const FieldKind last = fields[fields.size() - 1].kind;
    if (index == 0 && fields.size() >= 2 && (last == FieldKind::kDate || fields[1].kind == FieldKind::kTime))
      return decode_date(text, seen_, found);
    if (is_digit(text.front())) return decode_time_then_offset(text, found);
    return use_zone_name(text, true, found);
  }
  if (prefix_ == TokenValue::kJulian) {  // J2451187-08
    std::string_view rest = text;
    const std::optional<std::int32_t> julian = take_int32(rest);
    if (!julian || *julian < 0) return ParseFailure::kFieldOverflow;
    set_civil_date(*julian - kEpochJulian);
    is_julian_ = true;
    prefix_.reset();
    found = kDateFields | kTimeFields | TokenKind::kZone;
    return decode_offset(rest);
  }
  if (prefix_ || seen_.has_all(TokenKind::kMonth | TokenKind::kDay)) {  // a zone, or hhmmss-zz
    if (!is_digit(text.front()) && !prefix_) return use_zone_name(text, true, found);
    if (prefix_ && *prefix_ != TokenValue::kTime) return ParseFailure::kBadFormat;
    prefix_.reset();
    return decode_time_then_offset(text, found);
  }
  return decode_date(text, seen_, found);
}

ParseFailure DateTimeDecoder::decode_time_then_offset(std::string_view text, FieldSet& found) {
  if (seen_.has_all(kTimeFields)) return ParseFailure::kBadFormat;
  const std::size_t sign = text.find('-');
  if (sign == std::string_view::npos) return ParseFailure::kBadFormat;
  if (const ParseFailure failure = decode_offset(text.substr(sign)); failure != ParseFailure::kNone) return failure;
  const ParseFailure failure =
      decode_run_together(text.substr(0, sign), time_only_ ? seen_ | kDateFields : seen_, found);
  found = found | TokenKind::kZone;
  return failure;
}

ParseFailure DateTimeDecoder::decode_labelled_number(std::string_view text, FieldSet& found) {
  std::string_view rest = text;
  const std::optional<std::int32_t> value = take_int32(rest);
  if (!value) return ParseFailure::kFieldOverflow;
  if (!rest.empty() && rest.front() != '.') return ParseFailure::kBadFormat;
  if (*prefix_ == TokenValue::kJulian) {
    if (*value < 0) return ParseFailure::kFieldOverflow;
    found = kDateFields;
    set_civil_date(*value - kEpochJulian);
    is_julian_ = true;
    if (!rest.empty()) {
      const std::optional<double> fraction = decode_fraction(rest);
      if (!fraction) return ParseFailure::kBadFormat;
      set_time_of_fraction(*fraction);
      found = found | kTimeFields;
    }
  } else if (*prefix_ == TokenValue::kTime) {
    const ParseFailure failure = decode_run_together(text, seen_ | kDateFields, found);
    if (failure != ParseFailure::kNone) return failure;
    if (found != kTimeFields) return ParseFailure::kBadFormat;
  } else if (const ParseFailure failure = set_part(*value, rest, found); failure != ParseFailure::kNone) {
    return failure;
  }
  prefix_.reset();
  return ParseFailure::kNone;
}

ParseFailure DateTimeDecoder::decode_number_field(const DateTimeFields& fields, std::size_t index, FieldSet& found) {
  const std::string_view text = fields[index].text;
  if (prefix_) return decode_labelled_number(text, found);
  const std::size_t point = text.find('.');
  const bool has_point = point != std::string_view::npos;
  if (time_only_) {
    const FieldSet seen = seen_ | kDateFields;
    if (has_point) {
      if (index == 0 && fields.size() >= 2 && fields[fields.size() - 1].kind == FieldKind::kDate)
        return decode_date(text, seen_, found);
      return point > 2 ? decode_run_together(text, seen, found) : ParseFailure::kBadFormat;
    }
    return text.size() > 4 ? decode_run_together(text, seen, found) : decode_number(text, false, seen, found);
  }
  if (has_point && !seen_.has_any(kDateFields)) return decode_date(text, seen_, found);
  // Six digits and more are a date or a time, unless both are known: then they are a year.
  if ((has_point && point > 2) || (text.size() >= 6 && (!seen_.has_any(kDateFields) || !seen_.has_any(kTimeFields))))
    return decode_run_together(text, seen_, found);
  return decode_number(text, has_month_name_, seen_, found);
}

ParseFailure DateTimeDecoder::decode_word(const DateTimeFields& fields, std::size_t index, FieldSet& found,
                                          bool& ignored) {
  const std::string_view text = fields[index].text;
  if (const ZoneAbbreviation* abbreviation = find_zone_abbreviation(text)) {
    if (!abbreviation->zone.empty()) {
      dynamic_ = abbreviation;
      found = TokenKind::kDynamicZone | TokenKind::kZone;
    } else {
      value_.offset = abbreviation->offset;
      found = abbreviation->is_daylight ? TokenKind::kDaylightZone | TokenKind::kZone : FieldSet(TokenKind::kZone);
    }
    return ParseFailure::kNone;
  }
  const Token* token = find_date_word(text);
  if (token == nullptr) return use_zone_name(text, false, found);
  found = token->kind;
  switch (token->kind) {
    case TokenKind::kIgnored:
      ignored = true;
      break;
    case TokenKind::kReserved:
      return decode_reserved(token->meaning(), found);
    case TokenKind::kMonth:
      if (time_only_) return ParseFailure::kBadFormat;
      // A number that was taken for the month was the day.
      if (seen_.has_all(TokenKind::kMonth) && !has_month_name_ && !seen_.has_any(TokenKind::kDay) &&
          value_.month >= 1 && value_.month <= 31) {
        value_.day = value_.month;
        found = TokenKind::kDay;
      }
      has_month_name_ = true;
      value_.month = token->value;
      break;
    case TokenKind::kDaylightModifier:  // MET DST
      found = found | TokenKind::kDaylightZone;
      value_.offset += token->value;
      break;
    case TokenKind::kAmPm:
      meridiem_ = token->meaning();
      break;
    case TokenKind::kEra:
      before_christ_ = token->meaning() == TokenValue::kBc;
      break;
    case TokenKind::kWeekday:
      if (time_only_) return ParseFailure::kBadFormat;
      break;
    case TokenKind::kUnit:
      found = {};
      prefix_ = token->meaning();
      break;
    case TokenKind::kIsoTime: {
      found = {};
      if (!time_only_ && !seen_.has_all(kDateFields)) return ParseFailure::kBadFormat;
      if (index + 1 >= fields.size()) return ParseFailure::kBadFormat;
      const FieldKind next = fields[index + 1].kind;
      if (next != FieldKind::kNumber && next != FieldKind::kTime && next != FieldKind::kDate)
        return ParseFailure::kBadFormat;
      prefix_ = token->meaning();
      break;
    }
    default:
      return ParseFailure::kBadFormat;
  }
  return ParseFailure::kNone;
}

ParseFailure DateTimeDecoder::decode_reserved(TokenValue value, FieldSet& found) {
  const auto set_clock = [&](const CivilTime& civil) {
    value_.hour = civil.hour;
    value_.minute = civil.minute;
    value_.second = civil.second;
    value_.microsecond = civil.microsecond;
  };
  if (value == TokenValue::kZulu) {
    set_clock({});
    value_.offset = 0;
    found = kTimeFields | TokenKind::kZone;
    return ParseFailure::kNone;
  }
  const CivilTime today = civil_from_timestamp(local_now());
  if (value == TokenValue::kNow) {
    set_clock(today);
    found = kTimeFields;
    if (time_only_) return ParseFailure::kNone;
  }
  if (time_only_) return ParseFailure::kBadFormat;
  const std::int32_t days = days_from_civil(today.year, today.month, today.day);
  found = kDateFields;
  switch (value) {
    case TokenValue::kYesterday:
      set_civil_date(days - 1);
      return ParseFailure::kNone;
    case TokenValue::kToday:
      set_civil_date(days);
      return ParseFailure::kNone;
    case TokenValue::kTomorrow:
      set_civil_date(days + 1);
      return ParseFailure::kNone;
    case TokenValue::kNow:
      set_civil_date(days);
      value_.offset = session_zone(settings_).at(now_).offset;
      found = kDateFields | kTimeFields | TokenKind::kZone;
      return ParseFailure::kNone;
    case TokenValue::kEpoch:
      value_.kind = DecodedDateTime::Kind::kEpoch;
      break;
    case TokenValue::kInfinity:
      value_.kind = DecodedDateTime::Kind::kInfinity;
      break;
    case TokenValue::kNegativeInfinity:
      value_.kind = DecodedDateTime::Kind::kNegativeInfinity;
      break;
    default:
      return ParseFailure::kBadFormat;
  }
  found = {};  // other fields beside these words are read and dropped
  return ParseFailure::kNone;
}

ParseFailure DateTimeDecoder::decode_date(std::string_view text, FieldSet seen, FieldSet& found) {
  std::array<std::string_view, 25> parts;
  std::size_t count = 0;
  std::size_t at = 0;
  while (at < text.size() && count < parts.size()) {
    while (at < text.size() && !is_digit(text[at]) && !is_lower(text[at])) ++at;
    if (at == text.size()) return ParseFailure::kBadFormat;
    const std::size_t start = at;
    const bool digits = is_digit(text[at]);
    while (at < text.size() && (digits ? is_digit(text[at]) : is_lower(text[at]))) ++at;
    parts[count++] = text.substr(start, at - start);
    ++at;  // the character that ended the part is a separator
  }
  // A month's name first: it leaves less to guess.
  bool has_month_name = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_lower(parts[i].front())) continue;
    const Token* token = find_date_word(parts[i]);
    if (token != nullptr && token->kind == TokenKind::kIgnored) continue;
    if (token == nullptr || token->kind != TokenKind::kMonth) return ParseFailure::kBadFormat;
    value_.month = token->value;
    has_month_name = true;
    if (seen.has_any(TokenKind::kMonth)) return ParseFailure::kBadFormat;
    seen = seen | TokenKind::kMonth;
    found = found | TokenKind::kMonth;
    parts[i] = {};
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (parts[i].empty()) continue;
    FieldSet part;
    if (const ParseFailure failure = decode_number(parts[i], has_month_name, seen, part);
        failure != ParseFailure::kNone)
      return failure;
    if (seen.has_any(part)) return ParseFailure::kBadFormat;
    seen = seen | part;
    found = found | part;
  }
  if (seen.without(TokenKind::kDayOfYear | TokenKind::kZone) != kDateFields) return ParseFailure::kBadFormat;
  return ParseFailure::kNone;
}

ParseFailure DateTimeDecoder::decode_number(std::string_view text, bool has_month_name, FieldSet seen,
                                            FieldSet& found) {
  std::string_view rest = text;
  const std::optional<std::int32_t> number = take_int32(rest);
  if (!number) return ParseFailure::kFieldOverflow;
  const std::size_t digits = text.size() - rest.size();
  if (digits == 0) return ParseFailure::kBadFormat;
  const int value = *number;
  if (!rest.empty()) {
    if (rest.front() != '.') return ParseFailure::kBadFormat;
    if (digits > 2) return decode_run_together(text, seen | kDateFields, found);
    const std::optional<std::int32_t> microseconds = decode_fractional_second(rest);
    if (!microseconds) return ParseFailure::kBadFormat;
    value_.microsecond = *microseconds;
  }
  const FieldSet year = TokenKind::kYear, month = TokenKind::kMonth, day = TokenKind::kDay;
  const FieldSet known = seen & kDateFields;
  if (text.size() == 3 && known == year && value >= 1 && value <= 366) {
    found = TokenKind::kDayOfYear | TokenKind::kMonth | day;
    day_of_year_ = value;
    return ParseFailure::kNone;
  }
  const bool year_like = text.size() >= 3 || settings_.date_order == DateOrder::kYmd;
  if (known.empty()) {
    found = year_like ? year : settings_.date_order == DateOrder::kDmy ? day : month;
  } else if (known == year) {
    found = month;
  } else if (known == month) {
    found = has_month_name && year_like ? year : day;
  } else if (known == (year | month)) {
    found = day;
    if (has_month_name && text.size() >= 3 &&
        two_digit_year_) {  // 8-Jan-1999 in YMD mode: the first number was the day
      value_.day = value_.year;
      value_.year = value;
      two_digit_year_ = false;
      return ParseFailure::kNone;
    }
  } else if (known == day) {
    found = month;
  } else if (known == (month | day)) {
    found = year;
  } else if (known == kDateFields) {
    return decode_run_together(text, seen, found);
  } else {
    return ParseFailure::kBadFormat;
  }
  if (found == year) {
    value_.year = value;
    two_digit_year_ = text.size() <= 2;
  } else if (found == month) {
    value_.month = value;
  } else {
    value_.day = value;
  }
  return ParseFailure::kNone;
}

ParseFailure DateTimeDecoder::decode_run_together(std::string_view text, FieldSet seen, FieldSet& found) {
  if (const std::size_t point = text.find('.'); point != std::string_view::npos) {
    std::string_view fraction = text.substr(point);
    // The text after a second point is ignored.
    fraction = fraction.substr(0, std::min(fraction.find('.', 1), fraction.size()));
    value_.microsecond = decode_fractional_second(fraction).value_or(0);
    text = text.substr(0, point);
  } else if (!seen.has_all(kDateFields) && text.size() >= 6) {  // [yy]yymmdd
    found = kDateFields;
    const std::size_t length = text.size();
    value_.day = decode_digits(text.substr(length - 2));
    value_.month = decode_digits(text.substr(length - 4, 2));
    value_.year = decode_digits(text.substr(0, length - 4));
    if (length - 4 == 2) two_digit_year_ = true;
    return ParseFailure::kNone;
  }
  if (!seen.has_all(kTimeFields) && (text.size() == 6 || text.size() == 4)) {  // hhmm[ss]
    found = kTimeFields;
    value_.hour = decode_digits(text.substr(0, 2));
    value_.minute = decode_digits(text.substr(2, 2));
    value_.second = text.size() == 6 ? decode_digits(text.substr(4)) : 0;
    return ParseFailure::kNone;
  }
  return ParseFailure::kBadFormat;
}

ParseFailure DateTimeDecoder::decode_offset(std::string_view text) {
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return ParseFailure::kBadFormat;
  const bool west = text.front() == '-';
  std::string_view rest = text.substr(1);
  std::optional<std::int32_t> hours = take_int32(rest), minutes = 0, seconds = 0;
  if (!hours) return ParseFailure::kZoneOverflow;
  if (!rest.empty() && rest.front() == ':') {
    rest.remove_prefix(1);
    minutes = take_int32(rest);
    if (minutes && !rest.empty() && rest.front() == ':') {
      rest.remove_prefix(1);
      seconds = take_int32(rest);
    }
  } else if (rest.empty() && text.size() > 3) {  // hhmm
    minutes = *hours % 100;
    hours = *hours / 100;
  }
  if (!minutes || !seconds || *hours < 0 || *hours > kMaxOffsetHour || *minutes < 0 || *minutes > 59 || *seconds < 0 ||
      *seconds > 59)
    return ParseFailure::kZoneOverflow;
  value_.offset = (*hours * 60 + *minutes) * 60 + *seconds;
  if (west) value_.offset = -value_.offset;
  return rest.empty() ? ParseFailure::kNone : ParseFailure::kBadFormat;
}

ParseFailure DateTimeDecoder::use_zone_name(std::string_view name, bool strict, FieldSet& found) {
  zone_ = find_time_zone(name);
  found = TokenKind::kZone;
  if (zone_ != nullptr) return ParseFailure::kNone;
  if (strict) throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("time zone \"{}\" not recognized", name));
  return ParseFailure::kBadFormat;
}

ParseFailure DateTimeDecoder::validate_date() {
  if (seen_.has_any(TokenKind::kYear) && !is_julian_) {
    if (before_christ_) {
      if (value_.year <= 0) return ParseFailure::kFieldOverflow;
      value_.year = -(value_.year - 1);
    } else if (two_digit_year_) {
      if (value_.year < 100) value_.year += value_.year < 70 ? 2000 : 1900;
    } else if (value_.year <= 0) {
      return ParseFailure::kFieldOverflow;
    }
  }
  if (seen_.has_any(TokenKind::kDayOfYear)) {
    if (value_.year > kLastYear || value_.year < kFirstYear) {
      value_.month = value_.day = 1;
    } else {
      set_civil_date(days_from_civil(value_.year, 1, 1) + day_of_year_ - 1);
    }
  }
  if (seen_.has_any(TokenKind::kMonth) && (value_.month < 1 || value_.month > 12))
    return ParseFailure::kMonthDayOverflow;
  if (seen_.has_any(TokenKind::kDay) && (value_.day < 1 || value_.day > 31)) return ParseFailure::kMonthDayOverflow;
  if (seen_.has_all(kDateFields) && value_.day > days_in_month(value_.year, value_.month))
    return ParseFailure::kFieldOverflow;
  return ParseFailure::kNone;
}

ParseFailure DateTimeDecoder::apply_meridiem() {
  if (!meridiem_) return ParseFailure::kNone;
  if (value_.hour > 12) return ParseFailure::kFieldOverflow;
  value_.hour = value_.hour % 12 + (meridiem_ == TokenValue::kPm ? 12 : 0);
  return ParseFailure::kNone;
}

ParseFailure DateTimeDecoder::finish_moment() {
  if (value_.kind != DecodedDateTime::Kind::kMoment) return ParseFailure::kNone;
  if (!seen_.has_all(kDateFields)) return ParseFailure::kBadFormat;
  const bool modified = seen_.has_any(TokenKind::kDaylightModifier);
  if (modified && (zone_ != nullptr || dynamic_ != nullptr || !seen_.has_any(TokenKind::kZone)))
    return ParseFailure::kBadFormat;
  set_zone_offset();
  return ParseFailure::kNone;
}

void DateTimeDecoder::set_zone_offset() {
  if (zone_ != nullptr) value_.offset = offset_in(*zone_);
  if (dynamic_ != nullptr) value_.offset = offset_of_abbreviation();
  if (!seen_.has_any(TokenKind::kZone)) value_.offset = offset_in(session_zone(settings_));
}

ParseFailure DateTimeDecoder::finish_time() {
  if (value_.hour > 24 || value_.minute > 59 || value_.second > 60 ||
      exceeds_day(value_.hour, value_.minute, value_.second, value_.microsecond))
    return ParseFailure::kFieldOverflow;
  if (!seen_.has_all(kTimeFields)) return ParseFailure::kBadFormat;
  const bool has_date = seen_.has_all(kDateFields), has_part = seen_.has_any(kDateFields);
  const bool modified = seen_.has_any(TokenKind::kDaylightModifier);
  if (zone_ != nullptr && (modified || (!zone_->is_fixed() && !has_date))) return ParseFailure::kBadFormat;
  if (dynamic_ != nullptr && (modified || (has_part && !has_date))) return ParseFailure::kBadFormat;
  if (!seen_.has_any(TokenKind::kZone) && (modified || (has_part && !has_date))) return ParseFailure::kBadFormat;
  // The zone's offset on that date, or today's, applies to a time with time zone.
  if (!has_date) {
    const CivilTime today = civil_from_timestamp(local_now());
    set_civil_date(days_from_civil(today.year, today.month, today.day));
  }
  set_zone_offset();
  return ParseFailure::kNone;
}

void DateTimeDecoder::set_civil_date(std::int32_t days) {
  const CivilTime civil = civil_from_days(days);
  value_.year = civil.year;
  value_.month = civil.month;
  value_.day = civil.day;
}

void DateTimeDecoder::set_time_of_fraction(double days) {
  const auto time = static_cast<std::int64_t>(days * static_cast<double>(kMicrosecondsPerDay));
  const CivilTime civil = civil_from_timestamp(time);
  value_.hour = civil.hour;
  value_.minute = civil.minute;
  value_.second = civil.second;
  value_.microsecond = civil.microsecond;
}

std::int64_t DateTimeDecoder::local_now() const {
  return now_ + session_zone(settings_).at(now_).offset * kMicrosecondsPerSecond;
}

std::optional<std::int64_t> DateTimeDecoder::local_timestamp() const {
  constexpr int kFirstTimestampYear = -4713, kLastTimestampYear = 294'277;
  if (value_.year < kFirstTimestampYear || value_.year > kLastTimestampYear) return std::nullopt;
  const Int128 days = days_from_civil(value_.year, value_.month, value_.day);
  const Int128 time = value_.hour * kMicrosecondsPerHour + value_.minute * kMicrosecondsPerMinute +
                      value_.second * kMicrosecondsPerSecond;
  const Int128 sum = days * kMicrosecondsPerDay + time;
  if (sum > std::numeric_limits<std::int64_t>::max() || sum < std::numeric_limits<std::int64_t>::min())
    return std::nullopt;
  return static_cast<std::int64_t>(sum);
}

std::int32_t DateTimeDecoder::offset_in(const TimeZone& zone) const {
  const std::optional<std::int64_t> local = local_timestamp();
  return local ? zone.offset_of_local(*local) : 0;
}

std::int32_t DateTimeDecoder::offset_of_abbreviation() const {
  const TimeZone* zone = find_time_zone(dynamic_->zone);
  const std::optional<std::int64_t> local = local_timestamp();
  if (zone == nullptr || !local) return 0;
  const std::int32_t offset = zone->offset_of_local(*local);
  std::string upper(dynamic_->name);
  for (char& c : upper) c = is_lower(c) ? static_cast<char>(c - 32) : c;
  const auto found = zone->of_abbreviation(upper, *local - offset * kMicrosecondsPerSecond);
  return found ? found->offset : offset;
}

}  // namespace redquel::sql
