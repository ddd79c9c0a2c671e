#include "parser/literals.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "parser/scanner_characters.h"
#include "sql/ascii.h"
#include "sql/types/number_text.h"

namespace redquel::parser {
namespace {

/// Longer texts carry data; their plans would not be looked for again.
constexpr std::size_t kMostBytes = 8192;
constexpr std::size_t kMostLiterals = 200;
constexpr std::uint64_t kMostInteger = std::numeric_limits<std::int64_t>::max();

bool is_word_part(char c) { return character::is(c, character::kIdentifierStart | character::kDigit); }

/// The properties of a word, looked up once.
struct WordClass {
  enum : std::uint8_t {
    kStatement = 1,
    kInsert = 2,
    kValues = 4,
    kIn = 8,
    kBetween = 16,
    kAnd = 32,
    kOperandEnd = 64,  // may follow an operand of a comparison that is complete
    kGroupingSets = 128,  // equal constants in them and in the select list make one key
  };
};

struct KnownWord {
  std::string_view text;
  std::uint8_t classes;
};

// In the order of the alphabet.
constexpr KnownWord kKnownWords[] = {
    {"and", WordClass::kAnd | WordClass::kOperandEnd},
    {"as", WordClass::kOperandEnd},
    {"between", WordClass::kBetween},
    {"by", WordClass::kOperandEnd},
    {"cube", WordClass::kGroupingSets},
    {"delete", WordClass::kStatement},
    {"end", WordClass::kOperandEnd},
    {"except", WordClass::kOperandEnd},
    {"fetch", WordClass::kOperandEnd},
    {"for", WordClass::kOperandEnd},
    {"from", WordClass::kOperandEnd},
    {"group", WordClass::kOperandEnd},
    {"grouping", WordClass::kGroupingSets},
    {"having", WordClass::kOperandEnd},
    {"in", WordClass::kIn},
    {"insert", WordClass::kStatement | WordClass::kInsert},
    {"intersect", WordClass::kOperandEnd},
    {"limit", WordClass::kOperandEnd},
    {"offset", WordClass::kOperandEnd},
    {"on", WordClass::kOperandEnd},
    {"or", WordClass::kOperandEnd},
    {"order", WordClass::kOperandEnd},
    {"returning", WordClass::kOperandEnd},
    {"rollup", WordClass::kGroupingSets},
    {"select", WordClass::kStatement},
    {"then", WordClass::kOperandEnd},
    {"union", WordClass::kOperandEnd},
    {"update", WordClass::kStatement},
    {"values", WordClass::kValues},
    {"when", WordClass::kOperandEnd},
    {"where", WordClass::kOperandEnd},
    {"window", WordClass::kOperandEnd},
    {"with", WordClass::kStatement},
};
constexpr std::size_t kLongestWord = 9;

/// The first word of each letter.
constexpr std::array<std::uint8_t, 27> kFirstWord = [] {
  std::array<std::uint8_t, 27> first{};
  for (const KnownWord& known : kKnownWords) ++first[static_cast<std::size_t>(known.text[0] - 'a') + 1];
  for (std::size_t letter = 1; letter < first.size(); ++letter) first[letter] = static_cast<std::uint8_t>(first[letter] + first[letter - 1]);
  return first;
}();

std::uint8_t classes_of(std::string_view word) {
  if (word.size() < 2 || word.size() > kLongestWord) return 0;
  const auto is_same_letter = [](char a, char b) { return sql::to_lower(a) == b; };
  const auto letter = static_cast<unsigned char>(sql::to_lower(word[0]) - 'a');
  if (letter >= 26) return 0;
  for (std::size_t index = kFirstWord[letter]; index < kFirstWord[letter + 1]; ++index) {
    const KnownWord& known = kKnownWords[index];
    if (known.text.size() == word.size() && std::equal(word.begin(), word.end(), known.text.begin(), is_same_letter)) return known.classes;
  }
  return 0;
}

struct Token {
  enum class Kind : std::uint8_t { kWord, kQuotedName, kInteger, kNumber, kString, kOperator, kPunctuation };
  Kind kind;
  std::uint8_t classes;  // of a word
  char character;        // of punctuation and of an operator of one character; else 0
  std::size_t begin, end;
};

std::string content_of(std::string_view written) {
  std::string content;
  content.reserve(written.size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    content += written[i];
    if (written[i] == '\'') ++i;  // two of them are one
  }
  return content;
}

constexpr std::array<std::string_view, 7> kComparisons = {"=", "<", ">", "<=", ">=", "<>", "!="};

/// Goes through a text once. What a literal is depends on few tokens before it and on the one after it: it is taken, or left, when that
/// one has come.
class LiteralTaker {
 public:
  explicit LiteralTaker(std::string_view text) : text_(text) { out_.text.reserve(text.size() + 16); }

  std::optional<TextWithoutLiterals> run() {
    while (skip_spaces()) {
      if (!step()) return std::nullopt;
      const std::size_t i = count_ - 1;
      if (is(i, ';')) {
        --count_;
        if (skip_spaces()) return std::nullopt;  // another statement
        break;
      }
      if (i == 0) {
        if (!is_word(0, WordClass::kStatement)) return std::nullopt;
        is_insert_ = is_word(0, WordClass::kInsert);
      } else if (!take(i - 1) || !follow_lists(i)) {
        return std::nullopt;
      }
    }
    if (count_ == 0 || !take(count_ - 1) || types_.empty()) return std::nullopt;
    out_.text.append(text_.substr(copied_, token(count_ - 1).end - copied_)).append("\n--").append(types_);
    return std::move(out_);
  }

 private:
  // Tokens.

  bool skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size();
  }

  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  /// The next token; false where the text holds what is left to the parser.
  bool step() {
    const char c = text_[at_];
    if (is_identifier_start(c)) return word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '\'') return string();
    if (c == '"') return quoted_name();
    if (is_punctuation(c)) return add(Token::Kind::kPunctuation, at_ + 1, 0, c);
    return is_operator_character(c) && symbol();
  }

  bool add(Token::Kind kind, std::size_t end, std::uint8_t classes = 0, char character = 0) {
    recent_[count_++ % kRecent] = {kind, classes, character, at_, end};
    at_ = end;
    return true;
  }

  bool word() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_word_part(text_[end])) ++end;
    if (end < text_.size()) {
      // E'…', B'…', U&'…' and names with $.
      const char c = text_[end];
      if (c == '\'' || c == '$') return false;
      if (c == '&' && end + 1 < text_.size() && (text_[end + 1] == '\'' || text_[end + 1] == '"')) return false;
    }
    const std::uint8_t classes = classes_of(text_.substr(at_, end - at_));
    return (classes & WordClass::kGroupingSets) == 0 && add(Token::Kind::kWord, end, classes);
  }

  bool number() {
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (end == text_.size() || (text_[end] != '.' && !is_word_part(text_[end]))) return add(Token::Kind::kInteger, end);
    while (end < text_.size() && (is_word_part(text_[end]) || text_[end] == '.')) {
      const bool exponent = text_[end] == 'e' || text_[end] == 'E';
      ++end;
      if (exponent && end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
    }
    return add(Token::Kind::kNumber, end);
  }

  bool string() {
    std::size_t end = at_ + 1;
    while (true) {
      if (end >= text_.size() || text_[end] == '\\') return false;
      if (text_[end] != '\'') ++end;
      else if (end + 1 < text_.size() && text_[end + 1] == '\'') end += 2;
      else break;
    }
    // 'a' 'b' over two lines are one string.
    if (count_ > 0 && token(count_ - 1).kind == Token::Kind::kString) return false;
    return add(Token::Kind::kString, end + 1);
  }

  bool quoted_name() {
    const std::size_t end = text_.find('"', at_ + 1);
    return end != std::string_view::npos && add(Token::Kind::kQuotedName, end + 1);
  }

  bool symbol() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_operator_character(text_[end])) ++end;
    if (end - at_ > 1) {
      const std::string_view whole = text_.substr(at_, end - at_);
      if (whole.find("--") != std::string_view::npos || whole.find("/*") != std::string_view::npos) return false;
      // `=-5` is = and -5: an operator ends in + or - only if it holds one of the characters ~!@#%^&|`?.
      while (end - at_ > 1 && (text_[end - 1] == '-' || text_[end - 1] == '+') &&
             text_.substr(at_, end - at_).find_first_of("~!@#%^&|`?") == std::string_view::npos) {
        --end;
      }
    }
    return add(Token::Kind::kOperator, end, 0, end - at_ == 1 ? text_[at_] : '\0');
  }

  /// One of the last kRecent tokens, by its number from the text's begin.
  const Token& token(std::size_t i) const { return recent_[i % kRecent]; }
  std::string_view written(std::size_t i) const { return text_.substr(token(i).begin, token(i).end - token(i).begin); }
  bool is(std::size_t i, char character) const { return token(i).character == character; }
  bool is_word(std::size_t i, std::uint8_t wanted) const { return (token(i).classes & wanted) != 0; }

  // The meaning of the tokens.

  /// Opens and closes lists; false at what is left to the parser.
  bool follow_lists(std::size_t i) {
    if (is(i, '(')) {
      // INSERT of several rows: not one statement with other values, but a load.
      if (is_insert_ && list_end_ + 2 == i && is(i - 1, ',')) return false;
      lists_.push_back((is_insert_ && is_word(i - 1, WordClass::kValues)) || is_word(i - 1, WordClass::kIn));
    } else if (is(i, ')')) {
      if (lists_.empty()) return false;
      if (lists_.back()) list_end_ = i;
      lists_.pop_back();
    }
    return true;
  }

  bool is_in_list() const { return !lists_.empty() && lists_.back(); }

  /// Takes the token `i` if it is a literal that a parameter can stand for; false if these are too many.
  bool take(std::size_t i) {
    const bool is_string = token(i).kind == Token::Kind::kString;
    if (!is_string && token(i).kind != Token::Kind::kInteger) return true;
    const std::size_t first = has_sign(i) ? i - 1 : i;
    if (!begins_operand(first) || !ends_operand(i)) return true;
    std::string_view text = written(i);
    Literal literal{.is_string = is_string};
    if (is_string) {
      literal.text = content_of(text.substr(1, text.size() - 2));
    } else {
      std::uint64_t magnitude = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude);
      const bool negative = first != i;
      if (error != std::errc() || magnitude > kMostInteger + (negative ? 1 : 0)) return true;
      literal.number = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
    }
    if (out_.literals.size() == kMostLiterals) return false;
    types_ += type_of(literal);
    out_.literals.push_back(std::move(literal));
    out_.text.append(text_.substr(copied_, token(first).begin - copied_)).append("$");
    sql::append_integer(static_cast<std::int64_t>(out_.literals.size()), out_.text);
    copied_ = token(i).end;
    return true;
  }

  static char type_of(const Literal& literal) {
    if (literal.is_string) return 's';
    return literal.number == static_cast<std::int32_t>(literal.number) ? 'i' : 'l';
  }

  /// Returns true if a sign precedes the number at `i` (`= -5`, `(-5`, not `a - 5`).
  bool has_sign(std::size_t i) const {
    if (i < 2 || token(i).kind != Token::Kind::kInteger || !is(i - 1, '-')) return false;
    return token(i - 2).kind == Token::Kind::kOperator || is(i - 2, '(') || is(i - 2, ',') || is_word(i - 2, WordClass::kBetween | WordClass::kAnd);
  }

  bool begins_operand(std::size_t i) const {
    if (i == 0) return false;
    if (is(i - 1, '=')) return true;
    if (token(i - 1).kind == Token::Kind::kOperator) {
      if (std::ranges::find(kComparisons, written(i - 1)) != kComparisons.end()) return true;
      return (is(i - 1, '+') || is(i - 1, '-')) && token(i).kind != Token::Kind::kString && i > 1 && is_value_end(i - 2);
    }
    if (is(i - 1, '(') || is(i - 1, ',')) return is_in_list();
    if (is_word(i - 1, WordClass::kBetween)) return true;
    return is_word(i - 1, WordClass::kAnd) && ends_between(i - 1);
  }

  /// Returns true if an operand ends at `i`, so that a following + or - is binary.
  bool is_value_end(std::size_t i) const {
    const Token::Kind kind = token(i).kind;
    return kind == Token::Kind::kQuotedName || is(i, ')') || (kind == Token::Kind::kWord && !is_word(i, WordClass::kOperandEnd));
  }

  /// Returns true if the AND at `i` belongs to `BETWEEN literal AND`.
  bool ends_between(std::size_t i) const {
    if (i < 2) return false;
    const std::size_t first = has_sign(i - 1) ? i - 2 : i - 1;
    const Token::Kind kind = token(i - 1).kind;
    return first > 0 && (kind == Token::Kind::kInteger || kind == Token::Kind::kString) && is_word(first - 1, WordClass::kBetween);
  }

  bool ends_operand(std::size_t i) const {
    return i + 1 == count_ || is(i + 1, ')') || is(i + 1, ',') || is_word(i + 1, WordClass::kOperandEnd);
  }

  /// The length of `BETWEEN - 1 AND - 1` and the token after it.
  static constexpr std::size_t kRecent = 8;

  std::string_view text_;
  std::size_t at_ = 0;
  std::array<Token, kRecent> recent_{};
  std::size_t count_ = 0;
  bool is_insert_ = false;
  std::vector<bool> lists_;     // open parentheses: true for a list whose members are operands
  std::size_t list_end_ = 0;    // the last token that closed such a list
  std::size_t copied_ = 0;      // so much of the text is in that of `out_`
  std::string types_;           // of the literals: part of the text's meaning
  TextWithoutLiterals out_;
};

}  // namespace

std::optional<TextWithoutLiterals> take_literals(std::string_view text) {
  if (text.size() > kMostBytes) return std::nullopt;
  return LiteralTaker(text).run();
}

}  // namespace redquel::parser
