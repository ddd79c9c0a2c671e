#include "sql/functions/datetime_picture.h"

#include <algorithm>
#include <list>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

using enum DateField;
using enum LetterCase;

constexpr DatePattern kPatterns[] = {
    {"A.D.", kEra, kUpper, 0, true},
    {"A.M.", kMeridiem, kUpper, 0, true},
    {"AD", kEra, kUpper},
    {"AM", kMeridiem, kUpper},
    {"B.C.", kEra, kUpper, 0, true},
    {"BC", kEra, kUpper},
    {"CC", kCentury, kUpper},
    {"DAY", kDayName, kUpper},
    {"DDD", kDayOfYear, kUpper},
    {"DD", kDay, kUpper},
    {"DY", kDayAbbreviation, kUpper},
    {"Day", kDayName, kCapital},
    {"Dy", kDayAbbreviation, kCapital},
    {"D", kDayOfWeek, kUpper},
    {"FF1", kFraction, kUpper, 1},
    {"FF2", kFraction, kUpper, 2},
    {"FF3", kFraction, kUpper, 3},
    {"FF4", kFraction, kUpper, 4},
    {"FF5", kFraction, kUpper, 5},
    {"FF6", kFraction, kUpper, 6},
    {"FX", kFixed, kUpper},
    {"HH24", kHour24, kUpper},
    {"HH12", kHour12, kUpper},
    {"HH", kHour12, kUpper},
    {"IDDD", kIsoDayOfYear, kUpper},
    {"ID", kIsoDayOfWeek, kUpper},
    {"IW", kIsoWeek, kUpper},
    {"IYYY", kIsoYear, kUpper, 4},
    {"IYY", kIsoYear, kUpper, 3},
    {"IY", kIsoYear, kUpper, 2},
    {"I", kIsoYear, kUpper, 1},
    {"J", kJulian, kUpper},
    {"MI", kMinute, kUpper},
    {"MM", kMonth, kUpper},
    {"MONTH", kMonthName, kUpper},
    {"MON", kMonthAbbreviation, kUpper},
    {"MS", kMillisecond, kUpper},
    {"Month", kMonthName, kCapital},
    {"Mon", kMonthAbbreviation, kCapital},
    {"OF", kOffset, kUpper},
    {"P.M.", kMeridiem, kUpper, 0, true},
    {"PM", kMeridiem, kUpper},
    {"Q", kQuarter, kUpper},
    {"RM", kRomanMonth, kUpper},
    {"SSSSS", kSecondOfDay, kUpper},
    {"SSSS", kSecondOfDay, kUpper},
    {"SS", kSecond, kUpper},
    {"TZH", kZoneHours, kUpper},
    {"TZM", kZoneMinutes, kUpper},
    {"TZ", kZoneName, kUpper},
    {"US", kMicrosecond, kUpper},
    {"WW", kWeek, kUpper},
    {"W", kWeekOfMonth, kUpper},
    {"Y,YYY", kYearWithComma, kUpper},
    {"YYYY", kYear, kUpper, 4},
    {"YYY", kYear, kUpper, 3},
    {"YY", kYear, kUpper, 2},
    {"Y", kYear, kUpper, 1},
    {"a.d.", kEra, kLower, 0, true},
    {"a.m.", kMeridiem, kLower, 0, true},
    {"ad", kEra, kLower},
    {"am", kMeridiem, kLower},
    {"b.c.", kEra, kLower, 0, true},
    {"bc", kEra, kLower},
    {"cc", kCentury, kLower},
    {"day", kDayName, kLower},
    {"ddd", kDayOfYear, kLower},
    {"dd", kDay, kLower},
    {"dy", kDayAbbreviation, kLower},
    {"d", kDayOfWeek, kLower},
    {"ff1", kFraction, kLower, 1},
    {"ff2", kFraction, kLower, 2},
    {"ff3", kFraction, kLower, 3},
    {"ff4", kFraction, kLower, 4},
    {"ff5", kFraction, kLower, 5},
    {"ff6", kFraction, kLower, 6},
    {"fx", kFixed, kLower},
    {"hh24", kHour24, kLower},
    {"hh12", kHour12, kLower},
    {"hh", kHour12, kLower},
    {"iddd", kIsoDayOfYear, kLower},
    {"id", kIsoDayOfWeek, kLower},
    {"iw", kIsoWeek, kLower},
    {"iyyy", kIsoYear, kLower, 4},
    {"iyy", kIsoYear, kLower, 3},
    {"iy", kIsoYear, kLower, 2},
    {"i", kIsoYear, kLower, 1},
    {"j", kJulian, kLower},
    {"mi", kMinute, kLower},
    {"mm", kMonth, kLower},
    {"month", kMonthName, kLower},
    {"mon", kMonthAbbreviation, kLower},
    {"ms", kMillisecond, kLower},
    {"of", kOffset, kLower},
    {"p.m.", kMeridiem, kLower, 0, true},
    {"pm", kMeridiem, kLower},
    {"q", kQuarter, kLower},
    {"rm", kRomanMonth, kLower},
    {"sssss", kSecondOfDay, kLower},
    {"ssss", kSecondOfDay, kLower},
    {"ss", kSecond, kLower},
    {"tzh", kZoneHours, kLower},
    {"tzm", kZoneMinutes, kLower},
    {"tz", kZoneName, kLower},
    {"us", kMicrosecond, kLower},
    {"ww", kWeek, kLower},
    {"w", kWeekOfMonth, kLower},
    {"y,yyy", kYearWithComma, kLower},
    {"yyyy", kYear, kLower, 4},
    {"yyy", kYear, kLower, 3},
    {"yy", kYear, kLower, 2},
    {"y", kYear, kLower, 1},
};

const DatePattern* longest_pattern(std::string_view text) {
  const DatePattern* longest = nullptr;
  for (const DatePattern& pattern : kPatterns) {
    if (text.starts_with(pattern.name) && (longest == nullptr || pattern.name.size() > longest->name.size())) {
      longest = &pattern;
    }
  }
  return longest;
}

class PictureReader {
 public:
  PictureReader(std::string_view rest, bool standard) : rest_(rest), standard_(standard) {}

  std::vector<PictureItem> read() {
    while (!rest_.empty()) {
      PictureItem item{PictureItem::Kind::kField};
      read_prefix(item);
      if (rest_.empty()) break;
      item.pattern = longest_pattern(rest_);
      if (item.pattern != nullptr) {
        rest_.remove_prefix(item.pattern->name.size());
        read_suffix(item);
        items_.push_back(item);
      } else if (rest_[0] == '"') {
        read_quoted();
      } else if (standard_) {
        if (std::string_view("-./,':; ").find(rest_[0]) == std::string_view::npos) {
          throw SqlError(sqlstate::kInvalidDatetimeFormat, "invalid datetime format separator: \"" + std::string(first_character(rest_)) + "\"");
        }
        read_character(rest_[0] == ' ' ? PictureItem::Kind::kSpace : PictureItem::Kind::kSeparator);
      } else {
        if (rest_.starts_with("\\\"")) rest_.remove_prefix(1);
        const char c = rest_[0];
        read_character(is_separator(c) ? PictureItem::Kind::kSeparator
                       : is_blank(c)   ? PictureItem::Kind::kSpace
                                       : PictureItem::Kind::kCharacter);
      }
    }
    return std::move(items_);
  }

 private:
  bool take(std::string_view upper, std::string_view lower) {
    if (!rest_.starts_with(upper) && !rest_.starts_with(lower)) return false;
    rest_.remove_prefix(upper.size());
    return true;
  }

  void read_prefix(PictureItem& item) {
    if (take("FM", "fm")) {
      item.fill_mode = true;
    } else if (take("TM", "tm")) {
      item.translated = true;
    }
  }

  void read_suffix(PictureItem& item) {
    if (rest_.starts_with("TH")) {
      item.ordinal = PictureItem::Ordinal::kUpper;
    } else if (rest_.starts_with("th")) {
      item.ordinal = PictureItem::Ordinal::kLower;
    } else if (!rest_.starts_with("SP")) {  // accepted, without effect
      return;
    }
    rest_.remove_prefix(2);
  }

  void read_quoted() {
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      if (rest_[0] == '"') {
        rest_.remove_prefix(1);
        return;
      }
      if (rest_[0] == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      read_character(PictureItem::Kind::kCharacter);
    }
  }

  void read_character(PictureItem::Kind kind) {
    PictureItem item{kind};
    item.character = first_character(rest_);
    rest_.remove_prefix(item.character.size());
    items_.push_back(item);
  }

  std::string_view rest_;
  bool standard_;
  std::vector<PictureItem> items_;
};

}  // namespace

bool reads_digits(DateField field) {
  switch (field) {
    case kEra:
    case kMeridiem:
    case kDayName:
    case kDayAbbreviation:
    case kFixed:
    case kMonthName:
    case kMonthAbbreviation:
    case kOffset:
    case kRomanMonth:
    case kZoneHours:
    case kZoneName:
      return false;
    default:
      return true;
  }
}

bool is_iso_field(DateField field) {
  return field == kIsoDayOfYear || field == kIsoDayOfWeek || field == kIsoWeek || field == kIsoYear;
}

bool is_gregorian_field(DateField field) {
  switch (field) {
    case kDayOfYear:
    case kDay:
    case kDayOfWeek:
    case kMonth:
    case kMonthName:
    case kMonthAbbreviation:
    case kRomanMonth:
    case kWeek:
    case kWeekOfMonth:
    case kYearWithComma:
    case kYear:
      return true;
    default:
      return false;
  }
}

bool is_separator(char c) { return c > 0x20 && c < 0x7F && !is_alphanumeric(c); }

std::shared_ptr<const DatetimePicture> datetime_picture(std::string_view text, bool standard) {
  using Picture = std::shared_ptr<const DatetimePicture>;
  constexpr std::size_t kRemembered = 16, kLongestRemembered = 256;
  thread_local std::list<Picture> remembered;  // most recently used first
  const auto found =
      std::ranges::find_if(remembered, [&](const Picture& p) { return p->standard == standard && p->text == text; });
  if (found != remembered.end()) {
    remembered.splice(remembered.begin(), remembered, found);
    return remembered.front();
  }
  const auto picture = std::make_shared<DatetimePicture>(DatetimePicture{std::string(text), standard, {}});
  picture->items = PictureReader(picture->text, standard).read();
  if (text.size() <= kLongestRemembered) {
    remembered.push_front(picture);
    if (remembered.size() > kRemembered) remembered.pop_back();
  }
  return picture;
}

std::string_view ordinal_suffix(std::string_view digits, bool upper) {
  char last = digits.back();
  if (digits.size() > 1 && digits[digits.size() - 2] == '1') last = '0';
  switch (last) {
    case '1':
      return upper ? "ST" : "st";
    case '2':
      return upper ? "ND" : "nd";
    case '3':
      return upper ? "RD" : "rd";
    default:
      return upper ? "TH" : "th";
  }
}

}  // namespace redquel::sql
