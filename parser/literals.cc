#include "parser/literals.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "parser/scanner_characters.h"
#include "sql/ascii.h"

namespace redquel::parser {
namespace {

/// Longer texts carry data; their plans would not be looked for again.
constexpr std::size_t kMostBytes = 8192;
constexpr std::size_t kMostLiterals = 200;
constexpr std::uint64_t kMostInteger = std::numeric_limits<std::int64_t>::max();

bool is_word_part(char c) { return character::is(c, character::kIdentifierStart | character::kDigit); }

/// What matters of a word: each is looked up once.
struct WordClass {
  enum : std::uint8_t {
    kStatement = 1,
    kInsert = 2,
    kValues = 4,
    kIn = 8,
    kBetween = 16,
    kAnd = 32,
    kOperandEnd = 64,  // may follow an operand of a comparison that is complete
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
    {"delete", WordClass::kStatement},
    {"end", WordClass::kOperandEnd},
    {"except", WordClass::kOperandEnd},
    {"fetch", WordClass::kOperandEnd},
    {"for", WordClass::kOperandEnd},
    {"from", WordClass::kOperandEnd},
    {"group", WordClass::kOperandEnd},
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

/// Where the words of each letter begin.
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
  char alone;            // punctuation or operator of one character; of all others '\0'
  std::size_t begin, end;
  std::string_view text;  // as written; a string's is between its quotes
};

/// The tokens of a text; nullopt where it holds what is left to the parser.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { tokens_.reserve(2 + text.size() / 3); }

  std::optional<std::vector<Token>> run() {
    while (true) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      if (at_ == text_.size()) return std::move(tokens_);
      if (!step()) return std::nullopt;
    }
  }

 private:
  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  bool step() {
    const char c = text_[at_];
    if (is_identifier_start(c)) return word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '\'') return string();
    if (c == '"') return quoted_name();
    if (is_punctuation(c)) return add(Token::Kind::kPunctuation, at_ + 1);
    return is_operator_character(c) && symbol();
  }

  bool add(Token::Kind kind, std::size_t end) {
    const std::string_view text = text_.substr(at_, end - at_);
    const std::uint8_t classes = kind == Token::Kind::kWord ? classes_of(text) : 0;
    const bool is_alone = text.size() == 1 && (kind == Token::Kind::kPunctuation || kind == Token::Kind::kOperator);
    tokens_.push_back({kind, classes, is_alone ? text[0] : '\0', at_, end, text});
    at_ = end;
    return true;
  }

  bool word() {
    std::size_t end = at_;
    while (end < text_.size() && is_word_part(text_[end])) ++end;
    // E'…', B'…', U&'…' and names with $.
    if (end < text_.size() && (text_[end] == '\'' || text_[end] == '$')) return false;
    if (end + 1 < text_.size() && text_[end] == '&' && (text_[end + 1] == '\'' || text_[end + 1] == '"')) return false;
    return add(Token::Kind::kWord, end);
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
    if (!tokens_.empty() && tokens_.back().kind == Token::Kind::kString) return false;
    add(Token::Kind::kString, end + 1);
    tokens_.back().text = text_.substr(tokens_.back().begin + 1, end - tokens_.back().begin - 1);
    return true;
  }

  bool quoted_name() {
    const std::size_t end = text_.find('"', at_ + 1);
    return end != std::string_view::npos && add(Token::Kind::kQuotedName, end + 1);
  }

  bool symbol() {
    std::size_t end = at_;
    while (end < text_.size() && is_operator_character(text_[end])) ++end;
    if (end == at_ + 1) return add(Token::Kind::kOperator, end);
    const std::string_view whole = text_.substr(at_, end - at_);
    if (whole.find("--") != std::string_view::npos || whole.find("/*") != std::string_view::npos) return false;
    // `=-5` is = and -5: an operator ends in + or - only if it holds one of ~!@#%^&|`?
    while (end - at_ > 1 && (text_[end - 1] == '-' || text_[end - 1] == '+') &&
           text_.substr(at_, end - at_).find_first_of("~!@#%^&|`?") == std::string_view::npos) {
      --end;
    }
    return add(Token::Kind::kOperator, end);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
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

void append_decimal(std::size_t number, std::string& out) {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

constexpr std::array<std::string_view, 7> kComparisons = {"=", "<", ">", "<=", ">=", "<>", "!="};

class Taker {
 public:
  Taker(std::string_view text, std::vector<Token> tokens) : text_(text), tokens_(std::move(tokens)) {}

  std::optional<TextWithoutLiterals> run() {
    if (!tokens_.empty() && is(tokens_.size() - 1, ';')) tokens_.pop_back();
    if (tokens_.empty() || !is_word(0, WordClass::kStatement)) return std::nullopt;
    const std::size_t end = tokens_.back().end;
    std::size_t copied = 0;
    out_.text.reserve(end + 32);
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == Token::Kind::kWord) continue;
      if (is(i, ';')) return std::nullopt;
      if (is(i, '(')) {
        const bool row = i > 0 && is_word(i - 1, WordClass::kValues) && is_word(0, WordClass::kInsert);
        lists_.push_back(row || (i > 0 && is_word(i - 1, WordClass::kIn)));
      } else if (is(i, ')')) {
        if (lists_.empty()) return std::nullopt;
        // INSERT of several rows: not one statement with other values, but a load.
        if (lists_.back() && is_word(0, WordClass::kInsert) && i + 2 < tokens_.size() && is(i + 1, ',') && is(i + 2, '(')) return std::nullopt;
        lists_.pop_back();
      }
      std::optional<Literal> literal = literal_at(i);
      if (!literal) continue;
      const std::size_t first = has_sign(i) ? i - 1 : i;
      if (!begins_operand(first) || !ends_operand(i)) continue;
      if (out_.literals.size() == kMostLiterals) return std::nullopt;
      out_.text += text_.substr(copied, tokens_[first].begin - copied);
      out_.literals.push_back(std::move(*literal));
      out_.text += '$';
      append_decimal(out_.literals.size(), out_.text);
      copied = tokens_[i].end;
    }
    if (out_.literals.empty()) return std::nullopt;
    out_.text += text_.substr(copied, end - copied);
    // An integer's type is part of the text's meaning.
    for (std::size_t i = 0; i < out_.literals.size(); ++i) types_ += type_of(out_.literals[i]);
    out_.text += "\n--";
    out_.text += types_;
    return std::move(out_);
  }

 private:
  /// A character of punctuation, or an operator of one character.
  bool is(std::size_t i, char character) const { return tokens_[i].alone == character; }
  bool is_word(std::size_t i, std::uint8_t wanted) const { return (tokens_[i].classes & wanted) != 0; }
  bool is_operator(std::size_t i) const { return tokens_[i].kind == Token::Kind::kOperator; }

  static char type_of(const Literal& literal) {
    if (literal.is_string) return 's';
    return literal.number == static_cast<std::int32_t>(literal.number) ? 'i' : 'l';
  }

  /// Is the number at `i` preceded by a minus of its own (`= -5`, `(-5`, not `a - 5`)?
  bool has_sign(std::size_t i) const {
    if (i < 2 || tokens_[i].kind != Token::Kind::kInteger || !is(i - 1, '-')) return false;
    const Token& before = tokens_[i - 2];
    return before.kind == Token::Kind::kOperator || is(i - 2, '(') || is(i - 2, ',') || is_word(i - 2, WordClass::kBetween) || is_word(i - 2, WordClass::kAnd);
  }

  std::optional<Literal> literal_at(std::size_t i) const {
    const Token& token = tokens_[i];
    if (token.kind == Token::Kind::kString) return Literal{true, content_of(token.text), 0};
    if (token.kind != Token::Kind::kInteger) return std::nullopt;
    std::uint64_t magnitude = 0;
    const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), magnitude);
    const bool negative = has_sign(i);
    if (error != std::errc() || magnitude > kMostInteger + (negative ? 1 : 0)) return std::nullopt;
    Literal literal{false, {}, static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude)};
    return literal;
  }

  bool begins_operand(std::size_t i) const {
    if (i == 0) return false;
    const Token& before = tokens_[i - 1];
    if (before.alone == '=') return true;
    if (before.kind == Token::Kind::kOperator) {
      if (std::ranges::find(kComparisons, before.text) != kComparisons.end()) return true;
      return (is(i - 1, '+') || is(i - 1, '-')) && tokens_[i].kind != Token::Kind::kString && i > 1 && is_value_end(i - 2);
    }
    if (is(i - 1, '(') || is(i - 1, ',')) return !lists_.empty() && lists_.back();
    if (is_word(i - 1, WordClass::kBetween)) return true;
    return is_word(i - 1, WordClass::kAnd) && ends_between(i - 1);
  }

  /// Does an operand end at `i`, so that a + or - after it has two?
  bool is_value_end(std::size_t i) const {
    return tokens_[i].kind == Token::Kind::kQuotedName || is(i, ')') || (tokens_[i].kind == Token::Kind::kWord && !is_word(i, WordClass::kOperandEnd));
  }

  /// Is the AND at `i` that of `BETWEEN literal AND`?
  bool ends_between(std::size_t i) const {
    if (i < 2) return false;
    const std::size_t first = has_sign(i - 1) ? i - 2 : i - 1;
    const Token::Kind kind = tokens_[i - 1].kind;
    return first > 0 && (kind == Token::Kind::kInteger || kind == Token::Kind::kString) && is_word(first - 1, WordClass::kBetween);
  }

  bool ends_operand(std::size_t i) const {
    if (i + 1 == tokens_.size()) return true;
    return is(i + 1, ')') || is(i + 1, ',') || is_word(i + 1, WordClass::kOperandEnd);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<bool> lists_;  // open parentheses: is it a list whose members are operands?
  std::string types_;
  TextWithoutLiterals out_;
};

}  // namespace

std::optional<TextWithoutLiterals> take_literals(std::string_view text) {
  if (text.size() > kMostBytes) return std::nullopt;
  std::optional<std::vector<Token>> tokens = Scanner(text).run();
  if (!tokens) return std::nullopt;
  return Taker(text, *std::move(tokens)).run();
}

}  // namespace redquel::parser
