#include "sql/functions/date_field_reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/datetime_picture.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

using Text = std::string_view;
using Fields = DateFields;

class FieldReader {
 public:
  FieldReader(Text text, const std::vector<PictureItem>& items, bool standard)
      : rest_(text), items_(items), standard_(standard), fixed_(standard) {}

  Fields read() {
    for (index_ = 0; index_ < items_.size() && !rest_.empty(); ++index_) {
      const PictureItem& item = items_[index_];
      const bool is_field = item.kind == PictureItem::Kind::kField;
      if (!fixed_ && !(is_field && item.pattern->field == DateField::kFixed) && (is_field || index_ == 0))
        skip_blanks();
      if (!is_field) {
        read_character(item);
        continue;
      }
      set_convention(item.pattern->field);
      read_field(item);
      if (!fixed_) {
        skipped_ = 0;
        skip_blanks();
      }
    }
    if (standard_) check_end();
    return fields_;
  }

 private:
  void check_end() {
    if (index_ < items_.size()) throw SqlError(sqlstate::kInvalidDatetimeFormat, "input string is too short for datetime format");
    skip_blanks();
    if (!rest_.empty()) throw SqlError(sqlstate::kInvalidDatetimeFormat, "trailing characters remain in input string after datetime format");
  }

  // ---- characters
  // -----------------------------------------------------------------------------------------------------

  char front() const { return rest_.empty() ? '\0' : rest_[0]; }
  void take(std::size_t bytes) {
    if (bytes > 0) previous_ = rest_[bytes - 1];
    rest_.remove_prefix(bytes);
  }
  void take_character() {
    if (!rest_.empty()) take(character_size(rest_[0]));
  }
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_[0])) {
      take(1);
      ++skipped_;
    }
  }

  /// A separator or space of the template takes at most one of the text; another character takes one, unless more
  /// blanks than the template has were skipped before.
  void read_character(const PictureItem& item) {
    if (standard_ && !rest_.starts_with(item.character)) {
      const bool is_text = item.kind == PictureItem::Kind::kCharacter;
      throw SqlError(sqlstate::kInvalidDatetimeFormat,
                     fmt::format("unmatched format {} \"{}\"", is_text ? "character" : "separator", item.character));
    }
    if (fixed_) {
      take_character();
    } else if (item.kind != PictureItem::Kind::kCharacter) {
      --skipped_;
      if (!rest_.empty() && (is_blank(rest_[0]) || is_separator(rest_[0]))) {
        take(1);
        ++skipped_;
      }
    } else if (skipped_ > 0) {
      --skipped_;
    } else {
      take_character();
    }
  }

  // ---- numbers
  // --------------------------------------------------------------------------------------------------------

  /// Returns true if the next item cannot be mistaken for a digit of this number.
  bool is_delimited(const PictureItem& item) const {
    if (item.ordinal != PictureItem::Ordinal::kNone) return true;
    if (index_ + 1 == items_.size()) return true;
    const PictureItem& next = items_[index_ + 1];
    if (next.kind == PictureItem::Kind::kField) return !reads_digits(next.pattern->field);
    return !(next.character.size() == 1 && next.character[0] >= '0' && next.character[0] <= '9');
  }

  static SqlError invalid_value(Text value, const PictureItem& item) {
    return SqlError(sqlstate::kInvalidDatetimeFormat,
                    "invalid value \"" + std::string(value) + "\" for \"" + std::string(item.pattern->name) + "\"");
  }

  struct Number {
    std::size_t size;  // bytes, blanks and sign included; 0: there is none
    std::optional<int> value;
  };
  /// Reads like strtol().
  static Number leading_number(Text text) {
    std::size_t at = 0;
    while (at < text.size() && is_blank(text[at])) ++at;
    bool negative = false;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) negative = text[at++] == '-';
    const std::size_t digits = at;
    std::int64_t value = 0;
    bool overflow = false;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      value = value * 10 + (text[at++] - '0');
      overflow = overflow || value > std::numeric_limits<int>::max() + std::int64_t{1};
      if (overflow) value = 0;
    }
    if (at == digits) return {0, 0};
    if (negative) value = -value;
    overflow = overflow || value > std::numeric_limits<int>::max();
    return {at, overflow ? std::nullopt : std::optional(static_cast<int>(value))};
  }

  /// Reads up to `width` digits into the field; gives the number of bytes read.
  int read_number(int& field, const PictureItem& item, std::size_t width) {
    const Text begin = rest_;
    while (!rest_.empty() && is_blank(rest_[0])) take(1);
    Number number;
    Text shown;
    if (item.fill_mode || is_delimited(item)) {
      number = leading_number(begin);
      shown = begin;
      rest_ = begin;
    } else {
      shown = rest_.substr(0, width);
      if (shown.size() < width) {
        throw SqlError(sqlstate::kInvalidDatetimeFormat, "source string too short for \"" + std::string(item.pattern->name) + "\" formatting field")
            .detail(fmt::format("Field requires {} characters, but only {} remain.", width, shown.size()))
            .hint("If your source string is not fixed-width, try using the \"FM\" modifier.");
      }
      number = leading_number(shown);
      if (number.size > 0 && number.size < width) {
        throw invalid_value(shown, item)
            .detail(fmt::format("Field requires {} characters, but only {} could be parsed.", width, number.size))
            .hint("If your source string is not fixed-width, try using the \"FM\" modifier.");
      }
    }
    take(number.size);
    if (rest_.size() == begin.size())
      throw invalid_value(begin.substr(0, width), item).detail("Value must be an integer.");
    if (!number.value) {
      throw SqlError(sqlstate::kDatetimeFieldOverflow, "value for \"" + std::string(item.pattern->name) + "\" in source string is out of range")
          .detail(fmt::format("Value must be in the range {} to {}.", std::numeric_limits<int>::min(),
                              std::numeric_limits<int>::max()));
    }
    set(field, *number.value, item);
    const int size = static_cast<int>(begin.size() - rest_.size());
    if (item.ordinal != PictureItem::Ordinal::kNone) take(std::min<std::size_t>(2, rest_.size()));
    return size;
  }
  int read_number(int& field, const PictureItem& item) { return read_number(field, item, item.pattern->name.size()); }

  static void set(int& field, int value, const PictureItem& item) {
    if (field != 0 && field != value) {
      throw SqlError(sqlstate::kInvalidDatetimeFormat,
                     "conflicting values for \"" + std::string(item.pattern->name) + "\" field in formatting string")
          .detail("This value contradicts a previous setting for the same field type.");
    }
    field = value;
  }

  // ---- words
  // ----------------------------------------------------------------------------------------------------------

  static bool begins_with(Text text, Text word) {
    if (text.size() < word.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (to_lower(text[i]) != to_lower(word[i])) return false;
    }
    return true;
  }

  /// The position of the word (cut to `length` letters) that the text begins with.
  int read_word(std::span<const Text> words, const PictureItem& item, std::size_t length = Text::npos) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Text word = words[i].substr(0, length);
      if (!begins_with(rest_, word)) continue;
      take(word.size());
      return static_cast<int>(i);
    }
    const auto end = std::ranges::find_if(rest_, is_blank);
    throw invalid_value(Text(rest_.begin(), end), item)
        .detail("The given value did not match any of the allowed values for this field.");
  }

  // ---- fields
  // ---------------------------------------------------------------------------------------------------------

  void set_convention(DateField field) {
    using Convention = Fields::Convention;
    Convention convention = Convention::kNone;
    if (is_iso_field(field)) convention = Convention::kIso;
    if (is_gregorian_field(field)) convention = Convention::kGregorian;
    if (convention == Convention::kNone) return;
    if (fields_.convention != Convention::kNone && fields_.convention != convention) {
      throw SqlError(sqlstate::kInvalidDatetimeFormat, "invalid combination of date conventions")
          .hint("Do not mix Gregorian and ISO week date conventions in a formatting template.");
    }
    fields_.convention = convention;
  }

  void read_fraction(int& field, const PictureItem& item, int digits) {
    const int read = read_number(field, item, static_cast<std::size_t>(digits));
    for (int i = read; i < digits; ++i) field *= 10;
  }

  void read_field(const PictureItem& item) {
    constexpr Text kEras[] = {"AD", "BC"}, kDottedEras[] = {"A.D.", "B.C."};
    constexpr Text kMeridiems[] = {"AM", "PM"}, kDottedMeridiems[] = {"A.M.", "P.M."};
    switch (item.pattern->field) {
      using enum DateField;
      case kFixed:
        fixed_ = true;
        break;
      case kMeridiem:
        set(fields_.afternoon, read_word(item.pattern->dotted ? kDottedMeridiems : kMeridiems, item), item);
        fields_.twelve_hours = true;
        break;
      case kEra:
        set(fields_.before_christ, read_word(item.pattern->dotted ? kDottedEras : kEras, item), item);
        break;
      case kHour12:
        read_number(fields_.hour, item, 2);
        fields_.twelve_hours = true;
        break;
      case kHour24:
        read_number(fields_.hour, item, 2);
        break;
      case kMinute:
        read_number(fields_.minute, item);
        break;
      case kSecond:
        read_number(fields_.second, item);
        break;
      case kMillisecond:
        read_fraction(fields_.millisecond, item, 3);
        break;
      case kMicrosecond:
        read_fraction(fields_.microsecond, item, 6);
        break;
      case kFraction: {
        const int read = read_number(fields_.microsecond, item, item.pattern->digits);
        for (int i = read; i < 6; ++i) fields_.microsecond *= 10;
        fields_.fraction_digits = item.pattern->digits;
        break;
      }
      case kSecondOfDay:
        read_number(fields_.second_of_day, item);
        break;
      case kZoneName:
      case kOffset:
        throw SqlError(sqlstate::kFeatureNotSupported, "formatting field \"" + std::string(item.pattern->name) + "\" is only supported in to_char");
      case kZoneHours:
        read_zone_hours(item);
        break;
      case kZoneMinutes:
        if (fields_.zone_sign == 0) fields_.zone_sign = 1;
        read_number(fields_.zone_minutes, item, 2);
        break;
      default:
        read_date_field(item);
    }
  }

  /// A minus may have been taken for a separator before.
  void read_zone_hours(const PictureItem& item) {
    if (front() == '+' || front() == '-' || front() == ' ') {
      fields_.zone_sign = front() == '-' ? -1 : 1;
      take(1);
    } else {
      fields_.zone_sign = skipped_ > 0 && previous_ == '-' ? -1 : 1;
    }
    read_number(fields_.zone_hours, item, 2);
  }

  void read_date_field(const PictureItem& item) {
    switch (item.pattern->field) {
      using enum DateField;
      case kMonthName:
        set(fields_.month, read_word(kMonthNames, item) + 1, item);
        break;
      case kMonthAbbreviation:
        set(fields_.month, read_word(kMonthNames, item, 3) + 1, item);
        break;
      case kRomanMonth: {
        // Longer numerals first: VIII begins with V.
        constexpr Text kDescending[] = {"XII", "XI", "X", "IX", "VIII", "VII", "VI", "V", "IV", "III", "II", "I"};
        set(fields_.month, 12 - read_word(kDescending, item), item);
        break;
      }
      case kMonth:
        read_number(fields_.month, item, 2);
        break;
      case kDayName:
        set(fields_.day_of_week, read_word(kDayNames, item), item);
        ++fields_.day_of_week;
        break;
      case kDayAbbreviation:
        set(fields_.day_of_week, read_word(kDayNames, item, 3), item);
        ++fields_.day_of_week;
        break;
      case kDayOfYear:
        read_number(fields_.day_of_year, item);
        break;
      case kIsoDayOfYear:
        read_number(fields_.day_of_year, item, 3);
        break;
      case kDay:
        read_number(fields_.day, item, 2);
        break;
      case kDayOfWeek:
        read_number(fields_.day_of_week, item);
        break;
      case kIsoDayOfWeek:
        read_number(fields_.day_of_week, item, 1);
        if (++fields_.day_of_week > 7) fields_.day_of_week = 1;  // Sunday
        break;
      case kWeek:
      case kIsoWeek:
        read_number(fields_.week, item);
        break;
      case kQuarter: {
        int ignored = 0;
        read_number(ignored, item);
        break;
      }
      case kCentury:
        read_number(fields_.century, item);
        break;
      case kYearWithComma:
        read_year_with_comma(item);
        break;
      case kYear:
      case kIsoYear:
        read_year(item);
        break;
      case kWeekOfMonth:
        read_number(fields_.week_of_month, item);
        break;
      case kJulian:
        read_number(fields_.julian, item);
        break;
      default:
        break;
    }
  }

  void read_year(const PictureItem& item) {
    const int digits = item.pattern->digits;
    const int read = read_number(fields_.year, item, static_cast<std::size_t>(digits));
    // Years of two digits (or three, or one) are those nearest to 2020.
    if (digits < 4 && read < 4) {
      if (fields_.year < 70) {
        fields_.year += 2000;
      } else if (fields_.year < 100) {
        fields_.year += 1900;
      } else if (fields_.year < 520) {
        fields_.year += 2000;
      } else if (fields_.year < 1000) {
        fields_.year += 1000;
      }
    }
    fields_.year_digits = digits;
  }

  void read_year_with_comma(const PictureItem& item) {
    const Number millennia = leading_number(rest_);
    const SqlError invalid(sqlstate::kInvalidDatetimeFormat, "invalid input string for \"Y,YYY\"");
    if (millennia.size == 0 || millennia.size >= rest_.size() || rest_[millennia.size] != ',') throw invalid;
    Text tail = rest_.substr(millennia.size + 1);
    std::size_t blanks = 0;
    while (blanks < tail.size() && is_blank(tail[blanks])) ++blanks;
    const Number years = leading_number(tail.substr(0, blanks + 3));
    if (years.size == 0 || !millennia.value || !years.value) throw invalid;
    set(fields_.year, *millennia.value * 1000 + *years.value, item);
    fields_.year_digits = 4;
    take(millennia.size + 1 + years.size);
    if (item.ordinal != PictureItem::Ordinal::kNone) take(std::min<std::size_t>(2, rest_.size()));
  }

  Text rest_;
  const std::vector<PictureItem>& items_;
  const bool standard_;
  std::size_t index_ = 0;
  Fields fields_;
  bool fixed_;  // FX was met
  int skipped_ = 0;  // characters of the text that the template does not have
  char previous_ = '\0';
};

}  // namespace

DateFields read_date_fields(std::string_view text, std::string_view picture, bool standard) {
  const auto read_picture = datetime_picture(picture, standard);
  return FieldReader(text, read_picture->items, standard).read();
}

}  // namespace redquel::sql
