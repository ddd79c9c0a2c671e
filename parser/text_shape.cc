#include "parser/text_shape.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "parser/scanner_characters.h"
#include "sql/ascii.h"

namespace redquel::parser {
namespace {

/// The cost of a statement besides its tokens.
constexpr std::uint32_t kStatementTokens = 10;

/// A word that makes the tree deeper, or that separates parts of it that lie beside each other.
enum class Word { kOther, kAnd, kOr, kBetween, kBranch, kCase, kEnd, kOperator, kChain, kSet };

struct WordEntry {
  std::string_view text;
  Word word;
};

/// kOperator: stacks upon what is left of it (`a IS NULL IS NULL`, `NOT NOT a`). kChain: so does this one, across the
/// commas and ANDs in between. kBranch: the parts of a CASE.
constexpr std::array kWords = {
    WordEntry{"and", Word::kAnd},           WordEntry{"at", Word::kOperator},      WordEntry{"between", Word::kBetween},
    WordEntry{"case", Word::kCase},         WordEntry{"collate", Word::kOperator}, WordEntry{"else", Word::kBranch},
    WordEntry{"end", Word::kEnd},           WordEntry{"except", Word::kChain},     WordEntry{"ilike", Word::kOperator},
    WordEntry{"in", Word::kOperator},       WordEntry{"intersect", Word::kChain},  WordEntry{"is", Word::kOperator},
    WordEntry{"isnull", Word::kOperator},   WordEntry{"join", Word::kChain},       WordEntry{"like", Word::kOperator},
    WordEntry{"not", Word::kOperator},      WordEntry{"notnull", Word::kOperator}, WordEntry{"or", Word::kOr},
    WordEntry{"overlaps", Word::kOperator}, WordEntry{"select", Word::kChain},     WordEntry{"set", Word::kSet},
    WordEntry{"similar", Word::kOperator},  WordEntry{"then", Word::kBranch},      WordEntry{"union", Word::kChain},
    WordEntry{"values", Word::kChain},      WordEntry{"when", Word::kBranch},
};

Word classify(std::string_view text) {
  std::array<char, 9> lower;
  if (text.size() > lower.size() || text.size() < 2) return Word::kOther;
  std::transform(text.begin(), text.end(), lower.begin(), sql::to_lower);
  const std::string_view folded(lower.data(), text.size());
  const auto* found = std::lower_bound(kWords.begin(), kWords.end(), folded,
                                       [](const WordEntry& entry, std::string_view key) { return entry.text < key; });
  return found != kWords.end() && found->text == folded ? found->word : Word::kOther;
}

/// One pair of parentheses, brackets, or CASE … END; the bottom one is the statement.
struct Level {
  bool is_case = false;
  std::uint32_t run = 0;       // operators since the last separator
  std::uint32_t deepest = 0;   // of the levels closed since the last separator
  std::uint32_t chain = 0;     // joins and set operations, which no separator ends
  std::uint32_t betweens = 0;  // BETWEENs that wait for their AND
  std::uint32_t result = 0;    // of the parts that lie before the last separator
  std::uint32_t commas = 0;
  bool has_and = false;
  bool has_or = false;

  void separate() {
    result = std::max(result, run + deepest);
    run = deepest = 0;
  }
  std::uint32_t depth() {
    separate();
    return result + chain + 1 + (has_and ? 1 : 0) + (has_or ? 1 : 0);
  }
};

class Measure {
 public:
  explicit Measure(std::string_view text) : text_(text) {}

  TextShape run() {
    while (at_ < text_.size()) step();
    while (levels_.size() > 1) close();
    shape_.depth = std::max(shape_.depth, levels_.back().depth());
    return shape_;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Level& level() { return levels_.back(); }

  void step() {
    const char c = peek();
    if (is_space(c)) {
      ++at_;
      return;
    }
    ++shape_.tokens;
    if (c == '-' && peek(1) == '-') {
      skip_line();
    } else if (c == '/' && peek(1) == '*') {
      skip_comment();
    } else if (c == '\'') {
      skip_string(false);
    } else if ((c == 'e' || c == 'E') && peek(1) == '\'') {
      ++at_;
      skip_string(true);
    } else if (c == '"') {
      skip_quoted('"');
    } else if (c == '$') {
      skip_dollar();
    } else if (is_identifier_start(c)) {
      word();
    } else if (c == '(' || c == '[') {
      levels_.emplace_back();
      ++at_;
    } else if (c == ')' || c == ']') {
      close_bracket();
      ++at_;
    } else if (c == ',') {
      level().separate();
      ++level().commas;
      ++at_;
    } else if (c == ';') {
      end_statement();
      ++at_;
    } else if (is_operator_character(c)) {
      operators();
    } else if (is_digit(c)) {
      while (is_digit(peek()) || peek() == '.') ++at_;
    } else {
      ++at_;
    }
  }

  /// One operator, but PostgreSQL's scanner takes signs off its end: `1+-+-1` has four.
  void operators() {
    const std::size_t start = at_;
    if (peek() == '=' && saw_set_) shape_.widest_row_set = std::max(shape_.widest_row_set, row_width_);
    row_width_ = 0;
    for (; at_ < text_.size() && is_operator_character(peek()); ++at_) {
      if ((peek() == '-' && peek(1) == '-') || (peek() == '/' && peek(1) == '*')) return;
      if (at_ == start || peek() == '+' || peek() == '-') ++level().run;
    }
  }

  void word() {
    const std::size_t start = at_;
    row_width_ = 0;
    while (at_ < text_.size() && is_identifier_part(peek())) ++at_;
    switch (classify(text_.substr(start, at_ - start))) {
      case Word::kOther:
        break;
      case Word::kOr:
        level().has_or = true;
        level().separate();
        break;
      case Word::kAnd:
        if (level().betweens > 0) {
          --level().betweens;
        } else {
          level().has_and = true;
          level().separate();
        }
        break;
      case Word::kBetween:
        ++level().betweens;
        ++level().run;
        break;
      case Word::kBranch:
        level().separate();
        break;
      case Word::kCase:
        levels_.emplace_back();
        level().is_case = true;
        break;
      case Word::kEnd:
        if (level().is_case) close();
        break;
      case Word::kOperator:
        ++level().run;
        break;
      case Word::kChain:
        ++level().chain;
        break;
      case Word::kSet:
        saw_set_ = true;
        break;
    }
  }

  void close() {
    const std::uint32_t depth = levels_.back().depth();
    row_width_ = levels_.back().commas + 1;
    levels_.pop_back();
    level().deepest = std::max(level().deepest, depth);
  }

  /// A word that looked like CASE but has no END: `AS case`.
  void close_cases() {
    while (levels_.size() > 1 && level().is_case) close();
  }

  void close_bracket() {
    close_cases();
    if (levels_.size() > 1) close();
  }

  void end_statement() {
    shape_.tokens += kStatementTokens;
    close_cases();
    // CREATE RULE … DO (a; b) has semicolons inside parentheses.
    if (levels_.size() > 1) return level().separate();
    shape_.depth = std::max(shape_.depth, levels_.back().depth());
    levels_.back() = Level{};
    saw_set_ = false;
  }

  void skip_line() {
    while (at_ < text_.size() && peek() != '\n' && peek() != '\r') ++at_;
  }

  void skip_comment() {
    std::size_t open = 0;
    do {
      if (peek() == '/' && peek(1) == '*') {
        ++open;
        at_ += 2;
      } else if (peek() == '*' && peek(1) == '/') {
        --open;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (open > 0 && at_ < text_.size());
  }

  void skip_quoted(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;  // a doubled quote is two strings in a row
  }

  void skip_string(bool escapes) {
    if (!escapes) return skip_quoted('\'');
    do {
      ++at_;
      while (at_ < text_.size() && peek() != '\'') at_ += peek() == '\\' ? 2 : 1;
      ++at_;
    } while (continues_string());
    at_ = std::min(at_, text_.size());
  }

  /// Behind a closing quote: `''`, or white space with a line break and another quote, which continue the string with
  /// its rules for escapes. Moves to the quote.
  bool continues_string() {
    if (peek() == '\'') return true;
    std::size_t ahead = at_;
    bool line_break = false;
    while (ahead < text_.size()) {
      if (is_space(text_[ahead])) {
        line_break = line_break || text_[ahead] == '\n' || text_[ahead] == '\r';
        ++ahead;
      } else if (text_.substr(ahead, 2) == "--") {
        while (ahead < text_.size() && text_[ahead] != '\n' && text_[ahead] != '\r') ++ahead;
      } else {
        break;
      }
    }
    if (!line_break || ahead >= text_.size() || text_[ahead] != '\'') return false;
    at_ = ahead;
    return true;
  }

  /// `$1`, `$tag$ … $tag$`.
  void skip_dollar() {
    std::size_t end = at_ + 1;
    if (end < text_.size() && is_digit(text_[end])) {
      at_ = end;
      while (is_digit(peek())) ++at_;
      return;
    }
    while (end < text_.size() && text_[end] != '$' && is_identifier_part(text_[end])) ++end;
    if (end >= text_.size() || text_[end] != '$') {
      ++at_;
      return;
    }
    const std::string_view tag = text_.substr(at_, end + 1 - at_);
    const std::size_t close = text_.find(tag, end + 1);
    at_ = close == std::string_view::npos ? text_.size() : close + tag.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  TextShape shape_;
  bool saw_set_ = false;
  std::uint32_t row_width_ = 0;  // elements of the parentheses just closed
  std::vector<Level> levels_ = std::vector<Level>(1);
};

}  // namespace

TextShape measure_shape(std::string_view text) { return Measure(text).run(); }

}  // namespace redquel::parser
