#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

// The tokens of PostgreSQL's date/time input (manual, appendix B.1): fields by their first characters, then words. Internal to the
// datetime_*.cc and interval_*.cc files.
namespace redquel::sql {

enum class FieldKind : std::uint8_t {
  kNumber,   // digits, perhaps with a decimal point
  kWord,     // letters, in lower case
  kDate,     // digits or letters with - / . between them; also names of zones
  kTime,     // digits with colons
  kZone,     // a sign and digits: a zone's offset, a signed number or year-month of an interval
  kSpecial,  // a sign and letters: -infinity
};

struct DateTimeField {
  FieldKind kind;
  std::string_view text;
};

/// The fields of a text, at most 25, with letters in lower case.
class DateTimeFields {
 public:
  /// False where the text cannot be split, is too long or has too many fields.
  bool split(std::string_view text);
  std::size_t size() const { return size_; }
  const DateTimeField& operator[](std::size_t index) const { return fields_[index]; }

 private:
  std::array<char, 256> buffer_;
  std::array<DateTimeField, 25> fields_;
  std::size_t size_ = 0;
};

/// The kinds of words. Their single bits also mark the parts of a value that were seen (see FieldSet).
enum class TokenKind : std::uint8_t {
  kReserved,
  kMonth,
  kYear,
  kDay,
  kZone,
  kDaylightZone,
  kDynamicZone,
  kIgnored,
  kAmPm,
  kHour,
  kMinute,
  kSecond,
  kMillisecond,
  kMicrosecond,
  kDayOfYear,
  kWeekday,
  kUnit,
  kEra,
  kAgo,
  kIsoTime,
  kWeek,
  kDecade,
  kCentury,
  kMillennium,
  kDaylightModifier,
  kUnknown,
};

/// Values of reserved words and units.
enum class TokenValue : std::int32_t {
  kNow,
  kYesterday,
  kToday,
  kTomorrow,
  kZulu,
  kEpoch,
  kInfinity,
  kNegativeInfinity,
  kAm,
  kPm,
  kAd,
  kBc,
  kMicrosecond,
  kMillisecond,
  kSecond,
  kMinute,
  kHour,
  kDay,
  kWeek,
  kMonth,
  kQuarter,
  kYear,
  kDecade,
  kCentury,
  kMillennium,
  kJulian,
  kDayOfWeek,
  kIsoDayOfWeek,
  kIsoYear,
  kDayOfYear,
  kZone,
  kZoneHour,
  kZoneMinute,
  kTime,
  kAgo,
};

struct Token {
  std::string_view word;
  TokenKind kind;
  std::int32_t value;  // a TokenValue, a month or day number

  TokenValue meaning() const { return static_cast<TokenValue>(value); }
};

/// Words of dates and times, and words of interval units; only the first ten letters count. nullptr if there is none.
const Token* find_date_word(std::string_view lower);
const Token* find_unit_word(std::string_view lower);

class FieldSet {
 public:
  constexpr FieldSet() = default;
  constexpr FieldSet(TokenKind kind) : bits_(std::uint32_t{1} << static_cast<unsigned>(kind)) {}
  constexpr FieldSet operator|(FieldSet other) const { return FieldSet(bits_ | other.bits_); }
  constexpr FieldSet operator&(FieldSet other) const { return FieldSet(bits_ & other.bits_); }
  constexpr FieldSet without(FieldSet other) const { return FieldSet(bits_ & ~other.bits_); }
  constexpr bool has_all(FieldSet other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr bool has_any(FieldSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(FieldSet, FieldSet) = default;

 private:
  constexpr explicit FieldSet(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};
constexpr FieldSet operator|(TokenKind a, TokenKind b) { return FieldSet(a) | FieldSet(b); }

inline constexpr FieldSet kDateFields = TokenKind::kYear | TokenKind::kMonth | FieldSet(TokenKind::kDay);
inline constexpr FieldSet kAllSecondFields =
    TokenKind::kSecond | TokenKind::kMillisecond | FieldSet(TokenKind::kMicrosecond);
inline constexpr FieldSet kTimeFields = TokenKind::kHour | TokenKind::kMinute | kAllSecondFields;

/// The reasons to refuse a text; `throw_parse_failure` maps each to its SQLSTATE and words.
enum class ParseFailure : std::uint8_t {
  kNone,
  kBadFormat,
  kFieldOverflow,
  kMonthDayOverflow,
  kIntervalOverflow,
  kZoneOverflow
};
[[noreturn]] void throw_parse_failure(ParseFailure failure, std::string_view text, std::string_view type);

/// Digits (with a sign) at the front of `text`, which is shortened by them. nullopt: overflow. No digits: 0, nothing
/// taken.
std::optional<std::int32_t> take_int32(std::string_view& text);
std::optional<std::int64_t> take_int64(std::string_view& text);
/// ".25" → 0.25, "." → 0; nullopt where anything else follows.
std::optional<double> decode_fraction(std::string_view text);
/// Returns the fraction in microseconds, rounded to even.
std::optional<std::int32_t> decode_fractional_second(std::string_view text);

/// hh:mm, hh:mm:ss, hh:mm:ss.f or mm:ss.f; hours are not bounded. `minute_to_second`: two fields are mm:ss.
struct TimeOfDay {
  std::int64_t hour = 0;
  int minute = 0, second = 0, microsecond = 0;
};
ParseFailure decode_time_of_day(std::string_view text, bool minute_to_second, TimeOfDay& out);

}  // namespace redquel::sql
