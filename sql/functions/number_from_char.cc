#include "sql/functions/characters.h"
#include "sql/functions/number_picture.h"
#include "sql/error.h"

namespace redquel::sql {
namespace {

/// Reads a text along a template: digits are kept, a pattern or character that is not a digit passes over what stands there.
class NumberReader {
 public:
  NumberReader(const NumberPicture& picture, std::string_view text) : picture_(picture), rest_(text) {}

  std::string read() {
    for (const NumberItem& item : picture_.items) {
      if (rest_.empty()) break;
      read_item(item);
    }
    if (!digits_.empty() && digits_.back() == '.') digits_.pop_back();
    return sign_ + digits_;
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  char front() const { return rest_.empty() ? '\0' : rest_[0]; }
  void take() {
    if (!rest_.empty()) rest_.remove_prefix(1);
  }
  void take_character() {
    if (!rest_.empty()) rest_.remove_prefix(character_size(rest_[0]));
  }

  /// Passes over `count` characters that cannot belong to the number.
  void pass_over(std::size_t count) {
    while (count-- > 0 && !rest_.empty() && std::string_view("0123456789.,+-").find(rest_[0]) == std::string_view::npos) {
      take_character();
    }
  }

  void read_item(const NumberItem& item) {
    switch (item.pattern) {
      using enum NumberPattern;
      case kCharacter: take_character(); break;
      case kDigit:
      case kZero:
      case kPoint:
      case kLocalPoint:
        read_position(item.pattern);
        take();
        break;
      case kComma:
      case kGroup:
        if (!in_number_ && picture_.fill_mode) break;
        if (front() == ',') take();
        break;
      case kCurrency: pass_over(1); break;
      case kOrdinalUpper:
      case kOrdinalLower:
        if (!(picture_.roman || sign_ == '-' || picture_.has_point)) pass_over(2);
        break;
      case kMinus: read_mark("-"); break;
      case kPlus: read_mark("+"); break;
      case kSign: read_mark("+-"); break;
      default: break;
    }
  }

  void read_mark(std::string_view marks) {
    if (marks.find(front()) != std::string_view::npos) {
      sign_ = front();
      take();
    } else {
      pass_over(1);
    }
  }

  /// The character that is current at the end is consumed by the caller, unless nothing should be: then one is put back.
  void read_position(NumberPattern pattern) {
    if (is_space(front())) take();
    if (rest_.empty()) return;
    const bool is_digit_pattern = pattern == NumberPattern::kDigit || pattern == NumberPattern::kZero;

    // A sign in front of the first digit.
    if (sign_ == ' ' && is_digit_pattern && read_before_ + read_after_ == 0) {
      if (picture_.anchored_sign && picture_.anchor == NumberPicture::Anchor::kBefore) {
        if (front() == '-' || front() == '+') {
          sign_ = front();
          take();
        }
      } else {
        if (front() == '-' || (picture_.bracket && front() == '<')) {
          sign_ = '-';
          take();
        } else if (front() == '+') {
          sign_ = '+';
          take();
        }
      }
    }
    if (rest_.empty()) return;

    bool is_read = false;
    if (is_digit(front())) {
      if (read_point_ && read_after_ == picture_.after) {
        put_back_ = true;
      } else {
        digits_ += front();
        ++(read_point_ ? read_after_ : read_before_);
        is_read = true;
        in_number_ = true;
      }
    } else if (picture_.has_point && !read_point_ && front() == '.') {
      digits_ += '.';
      read_point_ = true;
      is_read = true;
    }

    // A sign behind the last digit.
    if (sign_ == ' ' && read_before_ + read_after_ > 0 && is_read && rest_.size() > 1) {
      const char behind = rest_[1];
      const bool anchored_behind = picture_.anchored_sign && !is_digit(behind);
      if (anchored_behind && (behind == '-' || behind == '+')) {
        sign_ = behind;
        take();
      }
    }
    if (!is_read) keep_current();
  }

  /// What is no part of a number stands still when the caller takes a character, if it is not for the next pattern.
  void keep_current() {
    if (!picture_.anchored_sign && !picture_.bracket && (front() == '-' || front() == '+' || front() == '>')) return;
  }

  const NumberPicture& picture_;
  std::string_view rest_;
  std::string digits_;
  char sign_ = ' ';
  int read_before_ = 0, read_after_ = 0;
  bool read_point_ = false, in_number_ = false, put_back_ = false;
};

}  // namespace

Numeric numeric_from_char(std::string_view text, std::string_view picture_text, bool& is_null) {
  if (picture_text.empty()) {
    is_null = true;
    return {};
  }
  const NumberPicture picture(picture_text);
  if (picture.exponent) throw SqlError("0A000", "\"EEEE\" not supported for input");
  if (picture.roman) throw SqlError("0A000", "\"RN\" not supported for input");
  std::string number = NumberReader(picture, text).read();
  Numeric value = Numeric::parse(number);
  if (picture.shifted > 0) value = value / Numeric::parse("1e" + std::to_string(picture.shifted));
  return value;
}

}  // namespace redquel::sql
