#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/number_picture.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

/// Reads a text along a template: digits are kept, a pattern or character that is not a digit passes over what stands
/// there.
class NumberReader {
 public:
  NumberReader(const NumberPicture& picture, std::string_view text) : picture_(picture), rest_(text) {}

  int digits_after_point() const { return read_after_; }

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
    while (count-- > 0 && !rest_.empty() &&
           std::string_view("0123456789.,+-").find(rest_[0]) == std::string_view::npos) {
      take_character();
    }
  }

  void read_item(const NumberItem& item) {
    switch (item.pattern) {
      using enum NumberPattern;
      case kCharacter:
        take_character();
        break;
      case kDigit:
      case kZero:
      case kPoint:
      case kLocalPoint:
        read_position(item.pattern);
        take();
        break;
      case kComma:
      case kGroup:
        if (picture_.fill_mode) break;
        if (front() == ',') take();
        break;
      case kCurrency:
        pass_over(1);
        break;
      case kOrdinalUpper:
      case kOrdinalLower:
        if (!(picture_.roman || sign_ == '-' || picture_.has_point)) pass_over(2);
        break;
      case kMinus:
        read_mark("-");
        break;
      case kPlus:
        read_mark("+");
        break;
      case kSign:
        read_mark("+-");
        break;
      default:
        break;
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

  /// The caller passes over the character that is current at the end.
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
      if (read_point_ && read_after_ == picture_.after) return;
      digits_ += front();
      ++(read_point_ ? read_after_ : read_before_);
      is_read = true;
    } else if (picture_.has_point && !read_point_ && front() == '.') {
      digits_ += '.';
      read_point_ = true;
      is_read = true;
    }
    if (sign_ == ' ' && read_before_ + read_after_ > 0) read_sign_behind(is_read);
  }

  /// S stands right behind the last digit; MI, PL and SG may be met before the template's last position.
  void read_sign_behind(bool is_read) {
    if (picture_.anchored_sign) {
      if (!is_read || rest_.size() < 2) return;
      if (rest_[1] == '-' || rest_[1] == '+') {
        sign_ = rest_[1];
        take();
      }
    } else if (!is_read && (picture_.plus || picture_.minus) && (front() == '-' || front() == '+')) {
      sign_ = front();
    }
  }

  const NumberPicture& picture_;
  std::string_view rest_;
  std::string digits_;
  char sign_ = ' ';
  int read_before_ = 0, read_after_ = 0;
  bool read_point_ = false;
};

}  // namespace

Numeric numeric_from_char(std::string_view text, std::string_view picture_text, bool& is_null) {
  if (picture_text.empty()) {
    is_null = true;
    return {};
  }
  const NumberPicture picture(picture_text);
  if (picture.exponent) throw SqlError(sqlstate::kFeatureNotSupported, "\"EEEE\" not supported for input");
  if (picture.roman) throw SqlError(sqlstate::kFeatureNotSupported, "\"RN\" not supported for input");
  NumberReader reader(picture, text);
  const std::string number = reader.read();
  // Rounds to a numeric of the template's precision.
  const int scale = reader.digits_after_point();
  const int precision = picture.before + picture.shifted + scale;
  const Numeric value = Numeric::parse(number).with_modifier((precision << 16 | scale) + 4);
  return picture.shift ? value * power(Numeric(10), Numeric(-picture.shifted)) : value;
}

}  // namespace redquel::sql
