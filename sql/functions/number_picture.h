#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/numeric.h"

namespace redquel::sql {

/// Template patterns of to_char(number) and to_number (manual, table 9.29).
enum class NumberPattern : std::uint8_t {
  kCharacter,
  kDigit,
  kZero,
  kPoint,
  kLocalPoint,
  kComma,
  kGroup,
  kCurrency,
  kMinus,
  kPlus,
  kSign,
  kBracket,
  kAnchoredSign,
  kOrdinalUpper,
  kOrdinalLower,
  kRomanUpper,
  kRomanLower,
  kShift,
  kBlank,
  kFillMode,
  kExponent,
  kIgnored,
};

struct NumberItem {
  NumberPattern pattern;
  std::string_view character;
};

/// A template, read and checked: 42601 where its patterns contradict each other.
struct NumberPicture {
  explicit NumberPicture(std::string_view text);

  std::vector<NumberItem> items;
  int before = 0, after = 0;  // digit positions around the decimal point
  int shifted = 0;            // digits behind V
  bool fill_mode = false, has_zero = false, has_point = false, bracket = false, minus = false, plus = false,
       roman = false, exponent = false, shift = false, anchored_sign = false, blank = false;
  enum class Anchor : std::uint8_t { kNone, kBefore, kAfter } anchor = Anchor::kNone;  // where S writes
  int digits_before_anchor = 0;
  int zero_start = 0, zero_end = 0;  // positions of the first and behind the last 0

 private:
  void add(NumberPattern pattern);
};

void integer_to_char(std::int64_t value, std::string_view picture, bool is_int8, std::string& out);
void float_to_char(double value, int digits, std::string_view picture, std::string& out);
void numeric_to_char(const Numeric& value, std::string_view picture, std::string& out);
/// 22P02 where no number is left.
Numeric numeric_from_char(std::string_view text, std::string_view picture, bool& is_null);

}  // namespace redquel::sql
