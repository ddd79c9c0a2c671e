#include <cfloat>
#include <cmath>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/datetime_picture.h"
#include "sql/functions/number_picture.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

/// A number in plain digits, ready for its template.
struct Digits {
  std::string text;  // "123.40" without sign; "###.##" where the template is too short
  bool negative = false;
  int missing = 0;  // digit positions of the template before the number's first digit
};

/// Lays digits under the template's positions, left to right.
class PictureWriter {
 public:
  PictureWriter(NumberPicture picture, Digits digits, std::string& out)
      : picture_(std::move(picture)), digits_(std::move(digits)), out_(out) {
    if (picture_.zero_start > 0) --picture_.zero_start;
    if (picture_.roman) forget_all_but_roman();
    place_sign();
    last_position_ = picture_.after + picture_.before - 1;
    if (picture_.fill_mode && picture_.has_point) find_last_relevant();
    if (!sign_written_ && digits_.missing == 0) ++last_position_;
  }

  void write() {
    for (const NumberItem& item : picture_.items) {
      if (ended_) break;
      write_item(item);
    }
  }

 private:
  using Anchor = NumberPicture::Anchor;
  static constexpr std::size_t kNowhere = std::string::npos;

  void forget_all_but_roman() {
    const bool fill_mode = picture_.fill_mode;
    std::vector<NumberItem> items = std::move(picture_.items);
    picture_ = NumberPicture("");
    picture_.items = std::move(items);
    picture_.fill_mode = fill_mode;
    picture_.roman = true;
    digits_.missing = 0;
    digits_.negative = false;
    no_sign_ = true;
  }

  void place_sign() {
    if (picture_.plus || picture_.minus) {
      // MI and SG write it themselves; PL alone leaves the minus to the digits.
      sign_written_ = !(picture_.plus && !picture_.minus);
      return;
    }
    const bool positive = !digits_.negative && !no_sign_;
    if (!digits_.negative && picture_.fill_mode) picture_.bracket = false;
    sign_written_ = positive && picture_.fill_mode && !picture_.anchored_sign;
    if (picture_.anchor == Anchor::kBefore && picture_.before == picture_.digits_before_anchor) {
      picture_.anchor = Anchor::kAfter;
    }
  }

  /// In fill mode zeros at the end of the fraction are not written, unless the template has 0 there.
  void find_last_relevant() {
    const std::string& text = digits_.text;
    const std::size_t point = text.find('.');
    if (point == std::string::npos) return;
    last_relevant_ = text.find_last_not_of('0');
    if (last_relevant_ < point) last_relevant_ = point;
    if (picture_.zero_end <= digits_.missing) return;
    const std::size_t forced =
        std::min<std::size_t>(text.size() - 1, static_cast<std::size_t>(picture_.zero_end - digits_.missing));
    last_relevant_ = std::max(last_relevant_, forced);
  }

  bool relevant_ends_at_point() const { return last_relevant_ != kNowhere && digits_.text[last_relevant_] == '.'; }
  char current() const { return next_ < digits_.text.size() ? digits_.text[next_] : '\0'; }
  /// The 0 before the point of 0.1, which 9.9 leaves blank.
  bool at_blank_zero() const { return !picture_.has_zero && next_ == 0 && current() == '0' && picture_.after != 0; }

  void write_item(const NumberItem& item) {
    switch (item.pattern) {
      using enum NumberPattern;
      case kCharacter:
        out_ += item.character;
        break;
      case kDigit:
      case kZero:
      case kPoint:
      case kLocalPoint:
        write_position(item.pattern);
        break;
      case kComma:
      case kGroup:
        if (in_number_) {
          out_ += ',';
        } else if (!picture_.fill_mode) {
          out_ += ' ';
        }
        break;
      case kCurrency:
        out_ += ' ';
        break;
      case kRomanUpper:
        write_roman(to_upper);
        break;
      case kRomanLower:
        write_roman(to_lower);
        break;
      case kOrdinalUpper:
      case kOrdinalLower:
        if (picture_.roman || digits_.text[0] == '#' || digits_.negative || picture_.has_point) break;
        if (digits_.text.back() < '0' || digits_.text.back() > '9') {
          throw SqlError(sqlstate::kInvalidTextRepresentation, "\"" + digits_.text + "\" is not a number");
        }
        out_ += ordinal_suffix(digits_.text, item.pattern == kOrdinalUpper);
        break;
      case kMinus:
        write_mark(digits_.negative, '-');
        break;
      case kPlus:
        write_mark(!digits_.negative && !no_sign_, '+');
        break;
      case kSign:
        if (no_sign_) {
          ended_ = true;
        } else {
          out_ += digits_.negative ? '-' : '+';
        }
        break;
      default:
        break;
    }
  }

  void write_mark(bool shown, char mark) {
    if (shown) {
      out_ += mark;
    } else if (!picture_.fill_mode) {
      out_ += ' ';
    }
  }

  template <class Letter>
  void write_roman(Letter letter) {
    std::string text;
    for (char c : digits_.text) text += letter(c);
    constexpr std::size_t kWidth = 15;
    if (!picture_.fill_mode && text.size() < kWidth) out_.append(kWidth - text.size(), ' ');
    out_ += text;
  }

  void write_leading_sign() {
    const bool positive = !digits_.negative;
    if (picture_.anchored_sign) {
      if (picture_.anchor != Anchor::kBefore) return;
      out_ += positive ? '+' : '-';
    } else if (picture_.bracket) {
      out_ += positive ? ' ' : '<';
    } else if (!positive) {
      out_ += '-';
    } else if (!picture_.fill_mode) {
      out_ += ' ';
    }
    sign_written_ = true;
  }

  void write_position(NumberPattern pattern) {
    if (picture_.roman) return;
    in_number_ = false;
    const bool zeros_begin = picture_.has_zero && picture_.zero_start <= position_;
    const bool reached = position_ >= digits_.missing || (picture_.has_zero && picture_.zero_start == position_);
    if (!sign_written_ && reached && (!at_blank_zero() || relevant_ends_at_point())) write_leading_sign();

    if (position_ < digits_.missing && !zeros_begin) {
      if (!picture_.fill_mode) out_ += ' ';
    } else if (position_ < digits_.missing) {
      out_ += '0';
      in_number_ = true;
    } else {
      write_digit(pattern);
      if (next_ < digits_.text.size()) ++next_;
    }

    int end = last_position_ + (digits_.missing > 0 ? 1 : 0) + (picture_.has_point ? 1 : 0);
    if (last_relevant_ != kNowhere && last_relevant_ == next_) end = position_;
    if (position_ + 1 == end) write_trailing_sign();
    ++position_;
  }

  void write_digit(NumberPattern pattern) {
    if (current() == '.') {
      if (!relevant_ends_at_point() || picture_.fill_mode) out_ += '.';
    } else if (last_relevant_ != kNowhere && next_ > last_relevant_ && pattern != NumberPattern::kZero) {
      return;
    } else if (at_blank_zero()) {
      if (!picture_.fill_mode) {
        out_ += ' ';
      } else if (relevant_ends_at_point()) {
        out_ += '0';
      }
    } else if (next_ < digits_.text.size()) {
      out_ += current();
      in_number_ = true;
    } else {
      ended_ = true;  // NaN and infinities are shorter than their template
    }
  }

  void write_trailing_sign() {
    if (ended_) return;
    if (sign_written_ && picture_.bracket) {
      out_ += digits_.negative ? '>' : ' ';
    } else if (picture_.anchored_sign && picture_.anchor == Anchor::kAfter) {
      out_ += digits_.negative ? '-' : '+';
    }
  }

  NumberPicture picture_;
  Digits digits_;
  std::string& out_;
  std::size_t next_ = 0;  // in digits_.text
  std::size_t last_relevant_ = kNowhere;
  int position_ = 0, last_position_ = 0;
  bool sign_written_ = false, in_number_ = false, no_sign_ = false;
  bool ended_ = false;  // PostgreSQL writes a zero byte there, which ends the text
};

std::string roman_numeral(std::int64_t number) {
  constexpr int kMaxRoman = 3999;
  if (number < 1 || number > kMaxRoman) return std::string(15, '#');
  constexpr std::pair<int, std::string_view> kSteps[] = {{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"},
                                                         {90, "XC"},  {50, "L"},   {40, "XL"}, {10, "X"},   {9, "IX"},
                                                         {5, "V"},    {4, "IV"},   {1, "I"}};
  std::string text;
  for (const auto& [value, letters] : kSteps) {
    for (; number >= value; number -= value) text += letters;
  }
  return text;
}

/// The unsigned text of a number under the template's positions: how many of them stay before it, or #'s where it is
/// too long.
Digits lay_out(std::string text, bool negative, const NumberPicture& picture, int before) {
  Digits digits{std::move(text), negative};
  const auto length = static_cast<int>(std::min(digits.text.find('.'), digits.text.size()));
  if (length < before) {
    digits.missing = before - length;
  } else if (length > before) {
    digits.text.assign(static_cast<std::size_t>(before + picture.after + 1), '#');
    digits.text[static_cast<std::size_t>(before)] = '.';
  }
  return digits;
}

void write_unsigned(std::string text, bool negative, NumberPicture picture, std::string& out) {
  picture.before += picture.shifted;
  Digits digits = lay_out(std::move(text), negative, picture, picture.before);
  PictureWriter(std::move(picture), std::move(digits), out).write();
}

void write_roman(std::int64_t number, NumberPicture picture, std::string& out) {
  PictureWriter(std::move(picture), Digits{roman_numeral(number)}, out).write();
}

/// Returns the output of EEEE for NaN and infinities.
std::string exponent_hashes(const NumberPicture& picture) {
  std::string text(static_cast<std::size_t>(picture.before + picture.after + 6), '#');
  text[0] = ' ';
  text[static_cast<std::size_t>(picture.before + 1)] = '.';
  return text;
}

/// d.ddde+dd, rounded half away from zero.
std::string scientific(const Numeric& value, int digits) {
  if (value.is_zero())
    return "0" + (digits > 0 ? "." + std::string(static_cast<std::size_t>(digits), '0') : "") + "e+00";
  const auto power_of_ten = [](int exponent) { return Numeric::parse("1e" + std::to_string(exponent)); };
  const std::string plain = value.abs().to_string();
  const std::size_t first = plain.find_first_of("123456789");
  const std::size_t point = std::min(plain.find('.'), plain.size());
  int exponent = first < point ? static_cast<int>(point - first) - 1 : -static_cast<int>(first - point);
  Numeric mantissa =
      (exponent <= 0 ? value * power_of_ten(-exponent) : value * power_of_ten(-exponent)).rounded(digits);
  // PostgreSQL does not carry 9.99 over to the exponent; nor is there a need: 10.0e+02 is what it prints.
  return mantissa.to_string() + fmt::format("e{:+03d}", exponent);
}

}  // namespace

void integer_to_char(std::int64_t value, std::string_view text, bool is_int8, std::string& out) {
  if (text.empty()) return;
  NumberPicture picture(text);
  if (picture.roman) {
    write_roman(Numeric(value).to_int32(), std::move(picture), out);
    return;
  }
  if (picture.exponent) {
    std::string number = is_int8 ? scientific(Numeric(value), picture.after)
                                 : fmt::format("{:.{}e}", static_cast<double>(value), picture.after);
    if (number[0] != '-') number.insert(0, 1, ' ');
    out += number;
    return;
  }
  const auto require_range = [&](const Numeric& number) {
    if (is_int8) static_cast<void>(number.to_int64());
    else static_cast<void>(number.to_int32());
  };
  Numeric shifted(value);
  if (picture.shifted > 0) {
    const Numeric power = Numeric::parse("1e" + std::to_string(picture.shifted));
    require_range(power);
    shifted = shifted * power;
    require_range(shifted);
  }
  std::string number = shifted.abs().rounded(0).to_string();
  if (picture.after > 0) number += "." + std::string(static_cast<std::size_t>(picture.after), '0');
  write_unsigned(std::move(number), value < 0, std::move(picture), out);
}

void float_to_char(double value, int digits, std::string_view text, std::string& out) {
  if (text.empty()) return;
  NumberPicture picture(text);
  if (picture.roman) {
    const double rounded = std::rint(value);
    write_roman(rounded >= -2147483648.0 && rounded <= 2147483647.0 ? static_cast<std::int64_t>(rounded) : 0,
                std::move(picture), out);
    return;
  }
  if (picture.exponent) {
    std::string number = std::isfinite(value) ? fmt::format("{:.{}e}", value, picture.after) : exponent_hashes(picture);
    if (number[0] != '-' && number[0] != ' ') number.insert(0, 1, ' ');
    out += number;
    return;
  }
  if (picture.shifted > 0) {
    const double power = std::pow(10.0, picture.shifted);
    // A float4 stays one.
    value = digits > FLT_DIG ? value * power : static_cast<double>(static_cast<float>(value) * static_cast<float>(power));
  }
  const auto plain = [&](int after) {
    if (std::isnan(value)) return std::string("NaN");
    if (std::isinf(value)) return std::string("Infinity");
    return fmt::format("{:.{}f}", std::fabs(value), after);
  };
  // No more digits than the type has.
  const auto before = static_cast<int>(plain(0).size());
  if (before >= digits) {
    picture.after = 0;
  } else if (before + picture.after > digits) {
    picture.after = digits - before;
  }
  write_unsigned(plain(picture.after), std::signbit(value) && !std::isnan(value), std::move(picture), out);
}

void numeric_to_char(const Numeric& value, std::string_view text, std::string& out) {
  if (text.empty()) return;
  NumberPicture picture(text);
  if (picture.roman) {
    write_roman(value.to_int32(), std::move(picture), out);
    return;
  }
  if (picture.exponent) {
    std::string number = value.is_finite() ? scientific(value, picture.after) : exponent_hashes(picture);
    if (number[0] != '-' && number[0] != ' ') number.insert(0, 1, ' ');
    out += number;
    return;
  }
  const Numeric shifted = picture.shifted == 0 || !value.is_finite()
                              ? value
                              : value * Numeric::parse("1e" + std::to_string(picture.shifted));
  std::string number = shifted.rounded(picture.after).to_string();
  const bool negative = number[0] == '-';
  if (negative) number.erase(0, 1);
  write_unsigned(std::move(number), negative, std::move(picture), out);
}

}  // namespace redquel::sql
