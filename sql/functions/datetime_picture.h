#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::sql {

/// The field of a template pattern of to_char(timestamp) and to_timestamp(text) (manual, table 9.27). Upper and lower case give one field;
/// names also print in the case of the pattern.
enum class DateField : std::uint8_t {
  kEra,
  kMeridiem,
  kCentury,
  kDayName,
  kDayAbbreviation,
  kDayOfYear,
  kDay,
  kDayOfWeek,
  kFraction,
  kFixed,
  kHour24,
  kHour12,
  kIsoDayOfYear,
  kIsoDayOfWeek,
  kIsoWeek,
  kIsoYear,
  kJulian,
  kMinute,
  kMonth,
  kMonthName,
  kMonthAbbreviation,
  kMillisecond,
  kOffset,
  kQuarter,
  kRomanMonth,
  kSecondOfDay,
  kSecond,
  kZoneHours,
  kZoneMinutes,
  kZoneName,
  kMicrosecond,
  kWeek,
  kWeekOfMonth,
  kYearWithComma,
  kYear,
};

enum class LetterCase : std::uint8_t { kUpper, kCapital, kLower };

struct DatePattern {
  std::string_view name;
  DateField field;
  LetterCase letters;
  std::uint8_t digits = 0;  // of years and fractions
  bool dotted = false;      // A.D., p.m.
};

/// Returns true if the pattern reads digits. A number before it then has a fixed width.
bool reads_digits(DateField field);
bool is_iso_field(DateField field);
bool is_gregorian_field(DateField field);

struct PictureItem {
  enum class Kind : std::uint8_t { kField, kCharacter, kSeparator, kSpace } kind;
  const DatePattern* pattern = nullptr;
  bool fill_mode = false;   // FM: no padding
  bool translated = false;  // TM
  enum class Ordinal : std::uint8_t { kNone, kUpper, kLower } ordinal = Ordinal::kNone;
  std::string_view character;
};

/// A template and what it says.
struct DatetimePicture {
  std::string text;
  bool standard;
  std::vector<PictureItem> items;  // views into the text
};

/// `standard`: a template of SQL/JSON's datetime(), whose separators are few: 22007 for others. The thread remembers the last ones: most
/// statements ask for the same one with every row.
std::shared_ptr<const DatetimePicture> datetime_picture(std::string_view text, bool standard = false);
/// Printable ASCII that is neither a letter nor a digit.
bool is_separator(char c);

inline constexpr std::string_view kMonthNames[] = {"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};
inline constexpr std::string_view kDayNames[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                 "Thursday", "Friday", "Saturday"};
inline constexpr std::string_view kRomanMonths[] = {"I",   "II",   "III", "IV", "V",  "VI",
                                                    "VII", "VIII", "IX",  "X",  "XI", "XII"};

/// "ST", "ND", "RD" or "TH" behind these digits.
std::string_view ordinal_suffix(std::string_view digits, bool upper);

}  // namespace redquel::sql
