#include <cmath>
#include <limits>

#include "sql/error.h"
#include "sql/types/datetime.h"
#include "sql/types/datetime_tokens.h"
#include "sql/value_errors.h"

// Input of intervals: PostgreSQL's own and the SQL standard's syntax, read from right to left because units follow
// their numbers; and ISO 8601's two forms.
namespace redquel::sql {
namespace {

/// Parts as they were given, folded into an Interval at the end.
class IntervalParts {
 public:
  bool add_microseconds(std::int64_t value, double fraction, std::int64_t unit) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(value, unit, &product) &&
           !__builtin_add_overflow(microseconds_, product, &microseconds_) && add_fraction(fraction, unit);
  }
  bool add_days(std::int64_t value, double fraction, int unit) {
    std::int32_t product = 0;
    return fits_int32(value) && !__builtin_mul_overflow(static_cast<std::int32_t>(value), unit, &product) &&
           !__builtin_add_overflow(days_, product, &days_) && add_fractional_days(fraction, unit);
  }
  bool add_months(std::int64_t value, double fraction) {
    return fits_int32(value) && !__builtin_add_overflow(months_, static_cast<std::int32_t>(value), &months_) &&
           add_fractional_days(fraction, 30);
  }
  bool add_years(std::int64_t value, double fraction, int unit) {
    std::int32_t product = 0;
    return fits_int32(value) && !__builtin_mul_overflow(static_cast<std::int32_t>(value), unit, &product) &&
           !__builtin_add_overflow(years_, product, &years_) &&
           !__builtin_add_overflow(months_, static_cast<std::int32_t>(std::rint(fraction * unit * 12)), &months_);
  }
  void set_microseconds(std::int64_t value) { microseconds_ = value; }
  std::int64_t microseconds() const { return microseconds_; }

  bool negate() {
    constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
    if (microseconds_ == std::numeric_limits<std::int64_t>::min() || days_ == kLeast || months_ == kLeast ||
        years_ == kLeast)
      return false;
    microseconds_ = -microseconds_;
    days_ = -days_;
    months_ = -months_;
    years_ = -years_;
    return true;
  }
  Interval to_interval() const {
    const std::int64_t months = std::int64_t{years_} * 12 + months_;
    if (!fits_int32(months)) throw datetime_out_of_range("interval");
    return {microseconds_, days_, static_cast<std::int32_t>(months)};
  }

 private:
  static bool fits_int32(std::int64_t value) {
    return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
  }
  bool add_fraction(double fraction, std::int64_t unit) {
    if (fraction == 0) return true;
    fraction *= static_cast<double>(unit);
    auto whole = static_cast<std::int64_t>(fraction);
    fraction -= static_cast<double>(whole);
    if (fraction > 0.5) ++whole;
    if (fraction < -0.5) --whole;
    return !__builtin_add_overflow(microseconds_, whole, &microseconds_);
  }
  bool add_fractional_days(double fraction, int unit) {
    if (fraction == 0) return true;
    fraction *= unit;
    const auto whole = static_cast<std::int32_t>(fraction);
    return !__builtin_add_overflow(days_, whole, &days_) && add_fraction(fraction - whole, kMicrosecondsPerDay);
  }

  std::int64_t microseconds_ = 0;
  std::int32_t days_ = 0, months_ = 0, years_ = 0;
};

/// The unit of a number that has none: the last field of INTERVAL … YEAR TO MONTH, or seconds.
TokenValue unit_of_fields(int fields) {
  using namespace interval_field;
  switch (fields) {
    case kYear:
      return TokenValue::kYear;
    case interval_field::kMonth:
    case kYear | interval_field::kMonth:
      return TokenValue::kMonth;
    case kDay:
      return TokenValue::kDay;
    case kHour:
    case kDay | kHour:
      return TokenValue::kHour;
    case kMinute:
    case kHour | kMinute:
    case kDay | kHour | kMinute:
      return TokenValue::kMinute;
    default:
      return TokenValue::kSecond;
  }
}

class IntervalDecoder {
 public:
  IntervalDecoder(IntervalStyle style, int fields) : style_(style), fields_(fields) {}

  ParseFailure decode(const DateTimeFields& fields, IntervalParts& out) {
    // The standard's '-1 1:00:00' is negative as a whole, where no other sign says otherwise.
    if (style_ == IntervalStyle::kSqlStandard && fields.size() > 0 && fields[0].text.front() == '-') {
      all_negative_ = true;
      for (std::size_t i = 1; i < fields.size(); ++i)
        if (fields[i].text.front() == '-' || fields[i].text.front() == '+') all_negative_ = false;
    }
    for (std::size_t i = fields.size(); i-- > 0;) {
      FieldSet found;
      bool ignored = false;
      const ParseFailure failure = decode_field(fields[i], found, ignored);
      if (failure != ParseFailure::kNone) return failure;
      if (ignored) continue;
      if (seen_.has_any(found)) return ParseFailure::kBadFormat;
      seen_ = seen_ | found;
    }
    if (seen_.empty()) return ParseFailure::kBadFormat;
    if (is_ago_ && !parts_.negate()) return ParseFailure::kFieldOverflow;
    out = parts_;
    return ParseFailure::kNone;
  }

 private:
  ParseFailure decode_field(const DateTimeField& field, FieldSet& found, bool& ignored) {
    switch (field.kind) {
      case FieldKind::kTime:
        return decode_time(field.text, false, found);
      case FieldKind::kZone:
        if (field.text.find(':', 1) != std::string_view::npos &&
            decode_time(field.text.substr(1), field.text.front() == '-', found) == ParseFailure::kNone)
          return ParseFailure::kNone;
        found = {};
        return decode_number(field.text, found);
      case FieldKind::kDate:
      case FieldKind::kNumber:
        return decode_number(field.text, found);
      case FieldKind::kWord:
      case FieldKind::kSpecial:
        break;
    }
    const Token* token = find_unit_word(field.text);
    if (token == nullptr) return ParseFailure::kBadFormat;
    if (token->kind == TokenKind::kIgnored) {
      ignored = true;
      unit_.reset();
      return ParseFailure::kNone;
    }
    is_ago_ = is_ago_ || token->kind == TokenKind::kAgo;
    unit_ = token->meaning();
    return ParseFailure::kNone;
  }

  ParseFailure decode_time(std::string_view text, bool negative, FieldSet& found) {
    using namespace interval_field;
    TimeOfDay time;
    const ParseFailure failure = decode_time_of_day(text, fields_ == (kMinute | kSecond), time);
    if (failure != ParseFailure::kNone) return failure;
    Int128 sum = Int128{time.hour} * kMicrosecondsPerHour + time.minute * kMicrosecondsPerMinute +
                 time.second * kMicrosecondsPerSecond + time.microsecond;
    if (negative || all_negative_) sum = -sum;
    using Limits = std::numeric_limits<std::int64_t>;  // the least one, too: rows hold it as text
    if (sum > Limits::max() || sum < Limits::min()) return ParseFailure::kFieldOverflow;
    parts_.set_microseconds(static_cast<std::int64_t>(sum));
    unit_ = TokenValue::kDay;  // of a bare number in front
    found = kTimeFields;
    return ParseFailure::kNone;
  }

  ParseFailure decode_number(std::string_view text, FieldSet& found) {
    if (!unit_) unit_ = unit_of_fields(fields_);
    const bool negative = text.front() == '-';
    std::string_view rest = text;
    const std::optional<std::int64_t> number = take_int64(rest);
    if (!number) return ParseFailure::kFieldOverflow;
    std::int64_t value = *number;
    double fraction = 0;
    if (!rest.empty() && rest.front() == '-') {  // years-months
      rest.remove_prefix(1);
      const std::optional<std::int32_t> months = take_int32(rest);
      if (!months || *months < 0 || *months >= 12) return ParseFailure::kFieldOverflow;
      if (!rest.empty()) return ParseFailure::kBadFormat;
      unit_ = TokenValue::kMonth;
      if (__builtin_mul_overflow(value, std::int64_t{12}, &value) ||
          __builtin_add_overflow(value, std::int64_t{negative ? -*months : *months}, &value))
        return ParseFailure::kFieldOverflow;
    } else if (!rest.empty() && rest.front() == '.') {
      const std::optional<double> decoded = decode_fraction(rest);
      if (!decoded) return ParseFailure::kBadFormat;
      fraction = negative ? -*decoded : *decoded;
    } else if (!rest.empty()) {
      return ParseFailure::kBadFormat;
    }
    if (all_negative_) {
      if (value > 0) value = -value;
      if (fraction > 0) fraction = -fraction;
    }
    return add(value, fraction, found);
  }

  ParseFailure add(std::int64_t value, double fraction, FieldSet& found) {
    bool fits = false;
    switch (*unit_) {
      case TokenValue::kMicrosecond:
        fits = parts_.add_microseconds(value, fraction, 1);
        found = TokenKind::kMicrosecond;
        break;
      case TokenValue::kMillisecond:
        fits = parts_.add_microseconds(value, fraction, 1000);
        found = TokenKind::kMillisecond;
        break;
      case TokenValue::kSecond:
        fits = parts_.add_microseconds(value, fraction, kMicrosecondsPerSecond);
        found = fraction == 0 ? FieldSet(TokenKind::kSecond) : kAllSecondFields;
        break;
      case TokenValue::kMinute:
        fits = parts_.add_microseconds(value, fraction, kMicrosecondsPerMinute);
        found = TokenKind::kMinute;
        break;
      case TokenValue::kHour:
        fits = parts_.add_microseconds(value, fraction, kMicrosecondsPerHour);
        found = TokenKind::kHour;
        unit_ = TokenValue::kDay;  // of a bare number in front
        break;
      case TokenValue::kDay:
        fits = parts_.add_days(value, fraction, 1);
        found = TokenKind::kDay;
        break;
      case TokenValue::kWeek:
        fits = parts_.add_days(value, fraction, 7);
        found = TokenKind::kWeek;
        break;
      case TokenValue::kMonth:
        fits = parts_.add_months(value, fraction);
        found = TokenKind::kMonth;
        break;
      case TokenValue::kYear:
        fits = parts_.add_years(value, fraction, 1);
        found = TokenKind::kYear;
        break;
      case TokenValue::kDecade:
        fits = parts_.add_years(value, fraction, 10);
        found = TokenKind::kDecade;
        break;
      case TokenValue::kCentury:
        fits = parts_.add_years(value, fraction, 100);
        found = TokenKind::kCentury;
        break;
      case TokenValue::kMillennium:
        fits = parts_.add_years(value, fraction, 1000);
        found = TokenKind::kMillennium;
        break;
      default:
        return ParseFailure::kBadFormat;
    }
    return fits ? ParseFailure::kNone : ParseFailure::kFieldOverflow;
  }

  const IntervalStyle style_;
  const int fields_;
  IntervalParts parts_;
  FieldSet seen_;
  std::optional<TokenValue> unit_;
  bool all_negative_ = false, is_ago_ = false;
};

/// ISO 8601: P1Y2M3DT4H5M6S, P0001-02-03T04:05:06, P00010203T040506.
class Iso8601Decoder {
 public:
  explicit Iso8601Decoder(const std::string& text) : start_(text.c_str()) {}

  ParseFailure decode(IntervalParts& out) {
    const char* at = start_;
    if (*at != 'P' || at[1] == '\0') return ParseFailure::kBadFormat;
    ++at;
    bool in_date = true, has_field = false;
    while (*at != '\0') {
      if (*at == 'T') {
        in_date = has_field = false;
        ++at;
        continue;
      }
      const char* const field = at;
      if (const ParseFailure failure = number(at); failure != ParseFailure::kNone) return failure;
      const char unit = *at;
      if (unit != '\0') ++at;
      Step step = in_date ? date_field(unit, field, has_field, at) : time_field(unit, field, has_field, at);
      if (step == Step::kBadFormat) return ParseFailure::kBadFormat;
      if (step == Step::kOverflow || failure_ == ParseFailure::kFieldOverflow) return ParseFailure::kFieldOverflow;
      if (failure_ != ParseFailure::kNone) return failure_;
      if (step == Step::kEnd) break;
      if (step == Step::kTimeFollows) {
        in_date = has_field = false;
      } else {
        has_field = true;
      }
    }
    out = parts_;
    return ParseFailure::kNone;
  }

 private:
  enum class Step { kNext, kTimeFollows, kEnd, kBadFormat, kOverflow };

  static Step next_if(bool fits) { return fits ? Step::kNext : Step::kOverflow; }

  ParseFailure number(const char*& at) {
    if (!((*at >= '0' && *at <= '9') || *at == '-' || *at == '.')) return ParseFailure::kBadFormat;
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at) return ParseFailure::kBadFormat;
    if (!(value >= -1.0e15 && value <= 1.0e15)) return ParseFailure::kFieldOverflow;
    whole_ = static_cast<std::int64_t>(value);
    fraction_ = value - static_cast<double>(whole_);
    at = end;
    return ParseFailure::kNone;
  }

  static int integer_width(const char* field) {
    if (*field == '-') ++field;
    int width = 0;
    while (field[width] >= '0' && field[width] <= '9') ++width;
    return width;
  }

  Step date_field(char unit, const char* field, bool has_field, const char*& at) {
    switch (unit) {
      case 'Y':
        return next_if(parts_.add_years(whole_, fraction_, 1));
      case 'M':
        return next_if(parts_.add_months(whole_, fraction_));
      case 'W':
        return next_if(parts_.add_days(whole_, fraction_, 7));
      case 'D':
        return next_if(add_day_part());
      case 'T':
      case '\0':
        if (integer_width(field) == 8 && !has_field) {
          const double fraction = fraction_;
          if (!parts_.add_years(whole_ / 10000, 0, 1) || !parts_.add_months(whole_ / 100 % 100, 0) ||
              !parts_.add_days(whole_ % 100, 0, 1) || !parts_.add_microseconds(0, fraction, kMicrosecondsPerDay))
            return Step::kOverflow;
          return unit == '\0' ? Step::kEnd : Step::kTimeFollows;
        }
        [[fallthrough]];
      case '-': {
        if (has_field) return Step::kBadFormat;
        if (!parts_.add_years(whole_, fraction_, 1)) return Step::kOverflow;
        if (unit == '\0') return Step::kEnd;
        if (unit == 'T') return Step::kTimeFollows;
        if ((failure_ = number(at)) != ParseFailure::kNone) return Step::kNext;
        if (!parts_.add_months(whole_, fraction_)) return Step::kOverflow;
        if (*at == '\0') return Step::kEnd;
        if (*at == 'T') return Step::kTimeFollows;
        if (*at++ != '-') return Step::kBadFormat;
        if ((failure_ = number(at)) != ParseFailure::kNone) return Step::kNext;
        if (!add_day_part()) return Step::kOverflow;
        if (*at == '\0') return Step::kEnd;
        return *at == 'T' ? Step::kTimeFollows : Step::kBadFormat;
      }
      default:
        return Step::kBadFormat;
    }
  }

  Step time_field(char unit, const char* field, bool has_field, const char*& at) {
    switch (unit) {
      case 'H':
        return next_if(parts_.add_microseconds(whole_, fraction_, kMicrosecondsPerHour));
      case 'M':
        return next_if(parts_.add_microseconds(whole_, fraction_, kMicrosecondsPerMinute));
      case 'S':
        return next_if(parts_.add_microseconds(whole_, fraction_, kMicrosecondsPerSecond));
      case '\0':
        if (integer_width(field) == 6 && !has_field) {
          const bool fits = parts_.add_microseconds(whole_ / 10000, 0, kMicrosecondsPerHour) &&
                            parts_.add_microseconds(whole_ / 100 % 100, 0, kMicrosecondsPerMinute) &&
                            parts_.add_microseconds(whole_ % 100, 0, kMicrosecondsPerSecond) &&
                            parts_.add_microseconds(0, fraction_, 1);
          return fits ? Step::kEnd : Step::kOverflow;
        }
        [[fallthrough]];
      case ':':
        if (has_field) return Step::kBadFormat;
        if (!parts_.add_microseconds(whole_, fraction_, kMicrosecondsPerHour)) return Step::kOverflow;
        if (unit == '\0') return Step::kEnd;
        if ((failure_ = number(at)) != ParseFailure::kNone) return Step::kNext;
        if (!parts_.add_microseconds(whole_, fraction_, kMicrosecondsPerMinute)) return Step::kOverflow;
        if (*at == '\0') return Step::kEnd;
        if (*at++ != ':') return Step::kBadFormat;
        if ((failure_ = number(at)) != ParseFailure::kNone) return Step::kNext;
        if (!parts_.add_microseconds(whole_, fraction_, kMicrosecondsPerSecond)) return Step::kOverflow;
        return *at == '\0' ? Step::kEnd : Step::kBadFormat;
      default:
        return Step::kBadFormat;
    }
  }

  bool add_day_part() {
    return parts_.add_days(whole_, 0, 1) && parts_.add_microseconds(0, fraction_, kMicrosecondsPerDay);
  }

  const char* start_;
  IntervalParts parts_;
  std::int64_t whole_ = 0;
  double fraction_ = 0;
  ParseFailure failure_ = ParseFailure::kNone;
};

}  // namespace

Interval parse_interval(std::string_view text, const SessionSettings& settings, std::int32_t modifier) {
  const int fields = modifier >= 0 ? (modifier >> 16) & 0x7FFF : interval_field::kAll;
  DateTimeFields split;
  IntervalParts parts;
  ParseFailure failure = ParseFailure::kBadFormat;
  if (split.split(text)) failure = IntervalDecoder(settings.interval_style, fields).decode(split, parts);
  if (failure == ParseFailure::kBadFormat) {
    parts = {};
    failure = Iso8601Decoder(std::string(text)).decode(parts);
  }
  if (failure == ParseFailure::kFieldOverflow) failure = ParseFailure::kIntervalOverflow;
  if (failure != ParseFailure::kNone) throw_parse_failure(failure, text, "interval");
  return parts.to_interval();
}

}  // namespace redquel::sql
