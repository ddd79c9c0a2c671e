#include "sql/types/money.h"

#include <fmt/format.h>

#include <limits>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"

namespace redquel::sql {
namespace {

constexpr int kPlaces = 2;

/// A text taken apart from its beginning.
class MoneyReader {
 public:
  explicit MoneyReader(std::string_view text) : text_(text), rest_(text) {}

  std::int64_t read() {
    read_signs();
    read_digits();
    read_end();
    if (negative_) return value_;
    if (value_ == std::numeric_limits<std::int64_t>::min()) throw out_of_range();
    return -value_;
  }

 private:
  char first() const { return rest_.empty() ? '\0' : rest_.front(); }
  void pass() { rest_.remove_prefix(1); }
  void pass_blanks() {
    while (is_blank(first())) pass();
  }
  void pass_symbol() {
    pass_blanks();
    if (first() == '$') pass();
    pass_blanks();
  }

  void read_signs() {
    pass_symbol();
    if (first() == '-' || first() == '(') {
      negative_ = true;
      pass();
    } else if (first() == '+') {
      pass();
    }
    pass_symbol();
  }

  /// Below zero, which reaches further. Digits behind the hundredths round.
  void read_digits() {
    int places = 0;
    bool seen_point = false;
    for (; !rest_.empty(); pass()) {
      if (is_digit(first()) && (!seen_point || places < kPlaces)) {
        add_digit(first() - '0');
        places += seen_point ? 1 : 0;
      } else if (first() == '.' && !seen_point) {
        seen_point = true;
      } else if (first() != ',') {
        break;
      }
    }
    if (is_digit(first()) && first() >= '5' && __builtin_sub_overflow(value_, std::int64_t{1}, &value_)) throw out_of_range();
    for (; places < kPlaces; ++places) add_digit(0);
  }

  void add_digit(int digit) {
    if (__builtin_mul_overflow(value_, std::int64_t{10}, &value_) || __builtin_sub_overflow(value_, std::int64_t{digit}, &value_)) throw out_of_range();
  }

  void read_end() {
    while (is_digit(first())) pass();
    for (; !rest_.empty(); pass()) {
      if (first() == '-') negative_ = true;
      const bool fits = is_blank(first()) || first() == ')' || first() == '-' || first() == '+' || first() == '$';
      if (!fits) throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for type money: \"{}\"", text_));
    }
  }

  SqlError out_of_range() const {
    return SqlError(sqlstate::kNumericValueOutOfRange, fmt::format("value \"{}\" is out of range for type money", text_));
  }

  std::string_view text_, rest_;
  std::int64_t value_ = 0;
  bool negative_ = false;
};

constexpr std::string_view kSmall[] = {"zero",    "one",     "two",       "three",    "four",     "five",    "six",
                                       "seven",   "eight",   "nine",      "ten",      "eleven",   "twelve",  "thirteen",
                                       "fourteen", "fifteen", "sixteen",  "seventeen", "eighteen", "nineteen"};
constexpr std::string_view kTens[] = {"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::string_view kThousands[] = {" quadrillion ", " trillion ", " billion ", " million ", " thousand "};

/// Appends the words of a number below 1000.
void append_number(std::uint64_t number, std::string& out) {
  const std::uint64_t rest = number % 100;
  if (number >= 100) {
    out += kSmall[number / 100];
    out += " hundred";
    if (rest == 0) return;
    out += rest < 20 ? " and " : " ";
  }
  if (rest < 20) {
    out += kSmall[rest];
  } else {
    out += kTens[rest / 10];
    if (rest % 10 != 0) {
      out += ' ';
      out += kSmall[rest % 10];
    }
  }
}

}  // namespace

std::int64_t parse_money(std::string_view text) { return MoneyReader(text).read(); }

void append_money(std::int64_t hundredths, std::string& out) {
  const std::uint64_t value = hundredths < 0 ? 0 - static_cast<std::uint64_t>(hundredths) : static_cast<std::uint64_t>(hundredths);
  const std::string whole = std::to_string(value / 100);
  if (hundredths < 0) out += '-';
  out += '$';
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i > 0 && (whole.size() - i) % 3 == 0) out += ',';
    out += whole[i];
  }
  out += fmt::format(".{:02}", value % 100);
}

void append_money_words(std::int64_t hundredths, std::string& out) {
  const std::uint64_t value = hundredths < 0 ? 0 - static_cast<std::uint64_t>(hundredths) : static_cast<std::uint64_t>(hundredths);
  const std::size_t start = out.size();
  if (hundredths < 0) out += "minus ";
  std::uint64_t divisor = 1'000'000'000'000'000;
  const std::uint64_t dollars = value / 100;
  for (const std::string_view unit : kThousands) {
    if (const std::uint64_t group = dollars / divisor % 1000; group != 0) {
      append_number(group, out);
      out += unit;
    }
    divisor /= 1000;
  }
  if (dollars % 1000 != 0) append_number(dollars % 1000, out);
  if (dollars == 0) out += "zero";
  out += dollars == 1 ? " dollar and " : " dollars and ";
  append_number(value % 100, out);
  out += value % 100 == 1 ? " cent" : " cents";
  out[start] = static_cast<char>(out[start] - 'a' + 'A');
}

namespace {

struct MoneyType : StoredAs<std::int64_t> {
  static constexpr IndexOrder kIndexOrder = IndexOrder::kScore;
  static constexpr bool kHasHashClass = false;
  static Value parse(const TextInput& input) { return parse_money(input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { append_money(value, out); }
  static std::string memory_image(Type, Value value) { return word_image_of(value); }
};

}  // namespace

std::span<const TypeRow> money_types() {
  static constexpr TypeRow kRows[] = {
      type_row<MoneyType>({.oid = oid::kMoney, .name = "money", .category = TypeCategory::kNumeric, .length = 8, .alignment = 'd',
                           .array = oid::kMoneyArray},
                          {.input = "cash_in", .output = "cash_out", .send = "cash_send", .is_stable = true},
                          {"cash_cmp", "cashlarger", "cashsmaller"}),
  };
  return kRows;
}

}  // namespace redquel::sql
