#include "sql/functions/regex_cost.h"

#include <algorithm>
#include <vector>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

/// The parts of a pattern that cost time, with bounded repetitions written out.
struct Weight {
  double captures = 0, optionals = 0, alternatives = 0;

  Weight& operator+=(const Weight& other) {
    captures += other.captures;
    optionals += other.optionals;
    alternatives += other.alternatives;
    return *this;
  }
  Weight times(double copies) const { return {captures * copies, optionals * copies, alternatives * copies}; }
};

/// Microseconds, as measured with patterns of one kind: `(a)(a)…`, `(((…`, `a?a?…`, `(.*)(.*)…`, `(a|(a|…`.
double compile_time(const Weight& weight) {
  const double branches = 4 * (weight.optionals + weight.alternatives), optionals = 4 * weight.optionals;
  const double per_capture = (weight.captures + branches) * (weight.captures + branches);
  return 0.013 * weight.captures * per_capture + 0.00017 * optionals * optionals * optionals;
}

/// Weighs a pattern from left to right. What is malformed is the engine's to refuse.
class Weighing {
 public:
  Weighing(std::string_view pattern, RegexFlags::Syntax syntax) : rest_(pattern), basic_(syntax == RegexFlags::Syntax::kBasic) {}

  Weight run() {
    while (!rest_.empty()) take_token();
    while (groups_.size() > 1) close_group();
    close_piece();
    return groups_.back().whole;
  }

 private:
  struct Group {
    Weight whole, piece;  // `piece`: the last one, which a quantifier may follow
    bool captures = false;
  };

  Group& group() { return groups_.back(); }
  void close_piece() {
    group().whole += group().piece;
    group().piece = {};
  }
  void close_group() {
    if (groups_.size() == 1) return;
    close_piece();
    Weight whole = group().whole;
    if (group().captures) whole.captures += 1;
    groups_.pop_back();
    group().piece = whole;
  }

  /// In basic regular expressions an operator has a backslash, in the others its plain character has.
  void take_token() {
    const bool escaped = rest_[0] == '\\' && rest_.size() > 1;
    const char c = rest_[escaped ? 1 : 0];
    rest_.remove_prefix(escaped ? 2 : 1);
    const bool is_operator = c == '*' || c == '[' ? !escaped : escaped == basic_;
    if (!is_operator) return close_piece();
    switch (c) {
      case '(':
        close_piece();
        groups_.push_back({.whole = {}, .piece = {}, .captures = basic_ || !rest_.starts_with('?')});
        return;
      case ')':
        return close_group();
      case '[':
        close_piece();
        return skip_bracket();
      case '|':
        close_piece();
        group().whole.alternatives += 1;
        return;
      case '{':
        return take_bounds();
      case '*':
      case '+':
      case '?':
        group().piece.optionals += 1;
        return;
      default:
        close_piece();
    }
  }

  void skip_bracket() {
    if (rest_.starts_with('^')) rest_.remove_prefix(1);
    if (rest_.starts_with(']')) rest_.remove_prefix(1);
    while (!rest_.empty() && rest_[0] != ']') {
      const bool is_class = rest_.starts_with("[:") || rest_.starts_with("[.") || rest_.starts_with("[=");
      std::size_t length = rest_[0] == '\\' && !basic_ ? 2 : 1;
      if (is_class) length = rest_.find(']', 2) == std::string_view::npos ? rest_.size() : rest_.find(']', 2) + 1;
      rest_.remove_prefix(std::min(length, rest_.size()));
    }
    rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
  }

  double take_number() {
    double number = 0;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1)) number = std::min(number * 10 + (rest_[0] - '0'), 1000.0);
    return number;
  }
  void take_bounds() {
    if (rest_.empty() || rest_[0] < '0' || rest_[0] > '9') return close_piece();
    const double least = take_number();
    double most = least;
    bool is_open = false;
    if (rest_.starts_with(',')) {
      rest_.remove_prefix(1);
      is_open = rest_.empty() || rest_[0] < '0' || rest_[0] > '9';
      most = is_open ? std::max(least, 1.0) : take_number();
    }
    const std::size_t end = rest_.find('}');
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    group().piece = group().piece.times(std::max(most, 1.0));
    group().piece.optionals += is_open ? 1 : std::max(most - least, 0.0);
  }

  std::string_view rest_;
  bool basic_;
  std::vector<Group> groups_{1};
};

}  // namespace

void check_compile_time(std::string_view pattern, RegexFlags::Syntax syntax) {
  constexpr double kMostMicroseconds = 2'000'000;
  if (syntax == RegexFlags::Syntax::kQuoted || compile_time(Weighing(pattern, syntax).run()) <= kMostMicroseconds) return;
  throw SqlError(sqlstate::kInvalidRegularExpression, "invalid regular expression: regular expression is too complex");
}

}  // namespace redquel::sql
