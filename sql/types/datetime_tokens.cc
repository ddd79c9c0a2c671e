#include "sql/types/datetime_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

using enum TokenKind;

constexpr std::int32_t operator+(TokenValue value) { return static_cast<std::int32_t>(value); }

constexpr Token kDateWords[] = {
    {"-infinity", kReserved, +TokenValue::kNegativeInfinity},
    {"ad", kEra, +TokenValue::kAd},
    {"allballs", kReserved, +TokenValue::kZulu},
    {"am", kAmPm, +TokenValue::kAm},
    {"apr", TokenKind::kMonth, 4},
    {"april", TokenKind::kMonth, 4},
    {"at", kIgnored, 0},
    {"aug", TokenKind::kMonth, 8},
    {"august", TokenKind::kMonth, 8},
    {"bc", kEra, +TokenValue::kBc},
    {"d", kUnit, +TokenValue::kDay},
    {"dec", TokenKind::kMonth, 12},
    {"december", TokenKind::kMonth, 12},
    {"dow", kUnit, +TokenValue::kDayOfWeek},
    {"doy", kUnit, +TokenValue::kDayOfYear},
    {"dst", kDaylightModifier, 3600},
    {"epoch", kReserved, +TokenValue::kEpoch},
    {"feb", TokenKind::kMonth, 2},
    {"february", TokenKind::kMonth, 2},
    {"fri", kWeekday, 5},
    {"friday", kWeekday, 5},
    {"h", kUnit, +TokenValue::kHour},
    {"infinity", kReserved, +TokenValue::kInfinity},
    {"isodow", kUnit, +TokenValue::kIsoDayOfWeek},
    {"isoyear", kUnit, +TokenValue::kIsoYear},
    {"j", kUnit, +TokenValue::kJulian},
    {"jan", TokenKind::kMonth, 1},
    {"january", TokenKind::kMonth, 1},
    {"jd", kUnit, +TokenValue::kJulian},
    {"jul", TokenKind::kMonth, 7},
    {"julian", kUnit, +TokenValue::kJulian},
    {"july", TokenKind::kMonth, 7},
    {"jun", TokenKind::kMonth, 6},
    {"june", TokenKind::kMonth, 6},
    {"m", kUnit, +TokenValue::kMonth},
    {"mar", TokenKind::kMonth, 3},
    {"march", TokenKind::kMonth, 3},
    {"may", TokenKind::kMonth, 5},
    {"mm", kUnit, +TokenValue::kMinute},
    {"mon", kWeekday, 1},
    {"monday", kWeekday, 1},
    {"nov", TokenKind::kMonth, 11},
    {"november", TokenKind::kMonth, 11},
    {"now", kReserved, +TokenValue::kNow},
    {"oct", TokenKind::kMonth, 10},
    {"october", TokenKind::kMonth, 10},
    {"on", kIgnored, 0},
    {"pm", kAmPm, +TokenValue::kPm},
    {"s", kUnit, +TokenValue::kSecond},
    {"sat", kWeekday, 6},
    {"saturday", kWeekday, 6},
    {"sep", TokenKind::kMonth, 9},
    {"sept", TokenKind::kMonth, 9},
    {"september", TokenKind::kMonth, 9},
    {"sun", kWeekday, 0},
    {"sunday", kWeekday, 0},
    {"t", kIsoTime, +TokenValue::kTime},
    {"thu", kWeekday, 4},
    {"thur", kWeekday, 4},
    {"thurs", kWeekday, 4},
    {"thursday", kWeekday, 4},
    {"today", kReserved, +TokenValue::kToday},
    {"tomorrow", kReserved, +TokenValue::kTomorrow},
    {"tue", kWeekday, 2},
    {"tues", kWeekday, 2},
    {"tuesday", kWeekday, 2},
    {"wed", kWeekday, 3},
    {"wednesday", kWeekday, 3},
    {"weds", kWeekday, 3},
    {"y", kUnit, +TokenValue::kYear},
    {"yesterday", kReserved, +TokenValue::kYesterday},
};
static_assert(std::ranges::is_sorted(kDateWords, {}, &Token::word));

constexpr Token kUnitWords[] = {
    {"@", kIgnored, 0},
    {"ago", kAgo, +TokenValue::kAgo},
    {"c", kUnit, +TokenValue::kCentury},
    {"cent", kUnit, +TokenValue::kCentury},
    {"centuries", kUnit, +TokenValue::kCentury},
    {"century", kUnit, +TokenValue::kCentury},
    {"d", kUnit, +TokenValue::kDay},
    {"day", kUnit, +TokenValue::kDay},
    {"days", kUnit, +TokenValue::kDay},
    {"dec", kUnit, +TokenValue::kDecade},
    {"decade", kUnit, +TokenValue::kDecade},
    {"decades", kUnit, +TokenValue::kDecade},
    {"decs", kUnit, +TokenValue::kDecade},
    {"h", kUnit, +TokenValue::kHour},
    {"hour", kUnit, +TokenValue::kHour},
    {"hours", kUnit, +TokenValue::kHour},
    {"hr", kUnit, +TokenValue::kHour},
    {"hrs", kUnit, +TokenValue::kHour},
    {"m", kUnit, +TokenValue::kMinute},
    {"microsecon", kUnit, +TokenValue::kMicrosecond},
    {"mil", kUnit, +TokenValue::kMillennium},
    {"millennia", kUnit, +TokenValue::kMillennium},
    {"millennium", kUnit, +TokenValue::kMillennium},
    {"millisecon", kUnit, +TokenValue::kMillisecond},
    {"mils", kUnit, +TokenValue::kMillennium},
    {"min", kUnit, +TokenValue::kMinute},
    {"mins", kUnit, +TokenValue::kMinute},
    {"minute", kUnit, +TokenValue::kMinute},
    {"minutes", kUnit, +TokenValue::kMinute},
    {"mon", kUnit, +TokenValue::kMonth},
    {"mons", kUnit, +TokenValue::kMonth},
    {"month", kUnit, +TokenValue::kMonth},
    {"months", kUnit, +TokenValue::kMonth},
    {"ms", kUnit, +TokenValue::kMillisecond},
    {"msec", kUnit, +TokenValue::kMillisecond},
    {"mseconds", kUnit, +TokenValue::kMillisecond},
    {"msecs", kUnit, +TokenValue::kMillisecond},
    {"qtr", kUnit, +TokenValue::kQuarter},
    {"quarter", kUnit, +TokenValue::kQuarter},
    {"s", kUnit, +TokenValue::kSecond},
    {"sec", kUnit, +TokenValue::kSecond},
    {"second", kUnit, +TokenValue::kSecond},
    {"seconds", kUnit, +TokenValue::kSecond},
    {"secs", kUnit, +TokenValue::kSecond},
    {"timezone", kUnit, +TokenValue::kZone},
    {"timezone_h", kUnit, +TokenValue::kZoneHour},
    {"timezone_m", kUnit, +TokenValue::kZoneMinute},
    {"us", kUnit, +TokenValue::kMicrosecond},
    {"usec", kUnit, +TokenValue::kMicrosecond},
    {"useconds", kUnit, +TokenValue::kMicrosecond},
    {"usecs", kUnit, +TokenValue::kMicrosecond},
    {"w", kUnit, +TokenValue::kWeek},
    {"week", kUnit, +TokenValue::kWeek},
    {"weeks", kUnit, +TokenValue::kWeek},
    {"y", kUnit, +TokenValue::kYear},
    {"year", kUnit, +TokenValue::kYear},
    {"years", kUnit, +TokenValue::kYear},
    {"yr", kUnit, +TokenValue::kYear},
    {"yrs", kUnit, +TokenValue::kYear},
};
static_assert(std::ranges::is_sorted(kUnitWords, {}, &Token::word));

constexpr std::size_t kSignificantLetters = 10;

template <std::size_t size>
const Token* find_word(const Token (&table)[size], std::string_view word) {
  word = word.substr(0, kSignificantLetters);
  const Token* found = std::ranges::lower_bound(table, word, {}, &Token::word);
  return found != std::end(table) && found->word == word ? found : nullptr;
}

constexpr bool is_punctuation(char c) { return c > ' ' && c < 0x7F && !is_alphanumeric(c); }

template <class Integer>
std::optional<Integer> take_integer(std::string_view& text) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && is_digit(digits[1])) digits.remove_prefix(1);
  Integer value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) return std::nullopt;
  if (error == std::errc()) text = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

const Token* find_date_word(std::string_view lower) { return find_word(kDateWords, lower); }

const Token* find_unit_word(std::string_view lower) { return find_word(kUnitWords, lower); }

bool DateTimeFields::split(std::string_view text) {
  size_ = 0;
  if (text.size() > buffer_.size()) return false;  // one byte of room per byte of text is enough
  char* out = buffer_.data();
  std::size_t at = 0;
  const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
  const auto take = [&] {
    const char c = text[at++];
    *out++ = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  };
  const auto take_while = [&](auto predicate) {
    while (at < text.size() && predicate(text[at])) take();
  };
  while (at < text.size()) {
    const char c = text[at];
    if (is_blank(c)) {
      ++at;
      continue;
    }
    if (size_ == fields_.size()) return false;
    char* const start = out;
    FieldKind kind = FieldKind::kNumber;
    if (is_digit(c)) {
      take_while(is_digit);
      const char delimiter = peek();
      if (delimiter == ':') {
        kind = FieldKind::kTime;
        take_while([](char d) { return is_digit(d) || d == ':' || d == '.'; });
      } else if (delimiter == '-' || delimiter == '/' || delimiter == '.') {
        take();
        if (is_digit(peek())) {
          kind = delimiter == '.' ? FieldKind::kNumber : FieldKind::kDate;
          take_while(is_digit);
          if (peek() == delimiter) {  // three parts with the same delimiter
            kind = FieldKind::kDate;
            take_while([delimiter](char d) { return is_digit(d) || d == delimiter; });
          }
        } else {  // a month's name, perhaps
          kind = FieldKind::kDate;
          take_while([delimiter](char d) { return is_alphanumeric(d) || d == delimiter; });
        }
      }
    } else if (c == '.') {
      take();
      take_while(is_digit);
    } else if (is_letter(c)) {
      kind = FieldKind::kWord;
      take_while(is_letter);
      const char next = peek();
      bool is_date = next == '-' || next == '/' || next == '.';
      if (next == '+' || is_digit(next))
        is_date = find_date_word({start, static_cast<std::size_t>(out - start)}) == nullptr;
      if (is_date) {
        kind = FieldKind::kDate;
        take_while(
            [](char d) { return is_alphanumeric(d) || std::string_view("+-/_.:").find(d) != std::string_view::npos; });
      }
    } else if (c == '+' || c == '-') {
      take();
      while (at < text.size() && is_blank(text[at])) ++at;
      if (is_digit(peek())) {
        kind = FieldKind::kZone;
        take_while([](char d) { return is_digit(d) || d == ':' || d == '.' || d == '-'; });
      } else if (is_letter(peek())) {
        kind = FieldKind::kSpecial;
        take_while(is_letter);
      } else {
        return false;
      }
    } else if (is_punctuation(c)) {
      ++at;
      continue;
    } else {
      return false;
    }
    fields_[size_++] = {kind, {start, static_cast<std::size_t>(out - start)}};
  }
  return true;
}

void throw_parse_failure(ParseFailure failure, std::string_view text, std::string_view type) {
  switch (failure) {
    case ParseFailure::kFieldOverflow:
      throw SqlError(sqlstate::kDatetimeFieldOverflow, fmt::format("date/time field value out of range: \"{}\"", text));
    case ParseFailure::kMonthDayOverflow:
      throw SqlError(sqlstate::kDatetimeFieldOverflow, fmt::format("date/time field value out of range: \"{}\"", text))
          .hint("Perhaps you need a different \"datestyle\" setting.");
    case ParseFailure::kIntervalOverflow:
      throw SqlError(sqlstate::kIntervalFieldOverflow, fmt::format("interval field value out of range: \"{}\"", text));
    case ParseFailure::kZoneOverflow:
      throw SqlError(sqlstate::kInvalidTimeZoneDisplacementValue, fmt::format("time zone displacement out of range: \"{}\"", text));
    case ParseFailure::kNone:
    case ParseFailure::kBadFormat:
      break;
  }
  throw SqlError(sqlstate::kInvalidDatetimeFormat, fmt::format("invalid input syntax for type {}: \"{}\"", type, text));
}

std::optional<std::int32_t> take_int32(std::string_view& text) { return take_integer<std::int32_t>(text); }

std::optional<std::int64_t> take_int64(std::string_view& text) { return take_integer<std::int64_t>(text); }

std::optional<double> decode_fraction(std::string_view text) {
  if (text == ".") return 0.0;
  double fraction = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fraction, std::chars_format::fixed);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  return error == std::errc() ? fraction : 0.0;  // too small for a double
}

std::optional<std::int32_t> decode_fractional_second(std::string_view text) {
  const std::optional<double> fraction = decode_fraction(text);
  if (!fraction) return std::nullopt;
  return static_cast<std::int32_t>(std::rint(*fraction * 1'000'000));
}

ParseFailure decode_time_of_day(std::string_view text, bool minute_to_second, TimeOfDay& out) {
  out = {};
  const std::optional<std::int64_t> first = take_int64(text);
  if (!first) return ParseFailure::kFieldOverflow;
  if (text.empty() || text.front() != ':') return ParseFailure::kBadFormat;
  text.remove_prefix(1);
  const std::optional<std::int32_t> second = take_int32(text);
  if (!second) return ParseFailure::kFieldOverflow;
  out.hour = *first;
  out.minute = *second;
  const auto shift_to_seconds = [&] {
    if (out.hour > std::numeric_limits<std::int32_t>::max() || out.hour < std::numeric_limits<std::int32_t>::min())
      return false;
    out.second = out.minute;
    out.minute = static_cast<int>(out.hour);
    out.hour = 0;
    return true;
  };
  std::string_view fraction;
  if (text.empty()) {
    if (minute_to_second && !shift_to_seconds()) return ParseFailure::kFieldOverflow;
  } else if (text.front() == '.') {
    fraction = text;
    if (!decode_fractional_second(fraction)) return ParseFailure::kBadFormat;  // that is told first
    if (!shift_to_seconds()) return ParseFailure::kFieldOverflow;
  } else if (text.front() == ':') {
    text.remove_prefix(1);
    const std::optional<std::int32_t> third = take_int32(text);
    if (!third) return ParseFailure::kFieldOverflow;
    out.second = *third;
    if (!text.empty() && text.front() != '.') return ParseFailure::kBadFormat;
    fraction = text;
  } else {
    return ParseFailure::kBadFormat;
  }
  if (!fraction.empty()) {
    const std::optional<std::int32_t> microseconds = decode_fractional_second(fraction);
    if (!microseconds) return ParseFailure::kBadFormat;
    out.microsecond = *microseconds;
  }
  if (out.hour < 0 || out.minute < 0 || out.minute > 59 || out.second < 0 || out.second > 60)
    return ParseFailure::kFieldOverflow;
  return ParseFailure::kNone;
}

}  // namespace redquel::sql
