#include "parser/plpgsql_scanner.h"

#include <cctype>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::parser::plpgsql {

namespace {

using Kind = Token::Kind;
using sql::SqlError;

constexpr std::string_view kOperatorCharacters = "~!@#^&|`?+-*/%<>=";

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }
bool continues_word(char c) { return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '$'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

class Scanner {
 public:
  explicit Scanner(std::string_view body) : body_(body) {}

  std::vector<Token> scan() {
    while (skip_space()) tokens_.push_back(next());
    tokens_.push_back({.kind = Kind::kEnd, .offset = static_cast<std::uint32_t>(body_.size()), .length = 0, .value = {}});
    return std::move(tokens_);
  }

 private:
  char at(std::size_t place) const { return place < body_.size() ? body_[place] : '\0'; }

  [[noreturn]] void unterminated(std::string_view kind, std::size_t begin) const {
    std::string message = "unterminated " + std::string(kind) + " at or near \"" + std::string(body_.substr(begin)) + "\"";
    throw SqlError(sqlstate::kSyntaxError, std::move(message)).at(static_cast<std::uint32_t>(begin));
  }

  /// Returns false at the end.
  bool skip_space() {
    while (at_ < body_.size()) {
      if (std::isspace(static_cast<unsigned char>(body_[at_])) != 0) {
        ++at_;
      } else if (body_.substr(at_, 2) == "--") {
        at_ = std::min(body_.find('\n', at_), body_.size());
      } else if (body_.substr(at_, 2) == "/*") {
        skip_comment();
      } else {
        return true;
      }
    }
    return false;
  }

  void skip_comment() {
    const std::size_t begin = at_;
    int depth = 0;
    do {
      if (body_.substr(at_, 2) == "/*") {
        ++depth;
        at_ += 2;
      } else if (body_.substr(at_, 2) == "*/") {
        --depth;
        at_ += 2;
      } else if (++at_ >= body_.size()) {
        unterminated("/* comment", begin);
      }
    } while (depth > 0);
  }

  Token next() {
    const std::size_t begin = at_;
    Token token;
    const char c = body_[at_];
    const char after = at(at_ + 1);
    if ((c == 'e' || c == 'E') && after == '\'') {
      ++at_;
      token = string(true);
    } else if ((c == 'b' || c == 'B' || c == 'x' || c == 'X' || c == 'n' || c == 'N') && after == '\'') {
      ++at_;
      token = string(false);
    } else if ((c == 'u' || c == 'U') && after == '&' && (at(at_ + 2) == '\'' || at(at_ + 2) == '"')) {
      at_ += 2;
      token = body_[at_] == '\'' ? string(false) : quoted();
    } else if (begins_word(c)) {
      token.kind = Kind::kWord;
      while (continues_word(at(at_))) token.value += lower(body_[at_++]);
    } else if (c == '"') {
      token = quoted();
    } else if (c == '\'') {
      token = string(false);
    } else if (is_digit(c) || (c == '.' && is_digit(after))) {
      token = number();
    } else if (c == '$') {
      token = dollar();
    } else {
      token = symbol();
    }
    token.offset = static_cast<std::uint32_t>(begin);
    token.length = static_cast<std::uint32_t>(at_ - begin);
    return token;
  }

  Token quoted() {
    const std::size_t begin = at_++;
    Token token{.kind = Kind::kQuoted, .value = {}};
    while (true) {
      if (at_ >= body_.size()) unterminated("quoted identifier", begin);
      if (body_[at_] == '"' && at(at_ + 1) != '"') break;
      if (body_[at_] == '"') ++at_;
      token.value += body_[at_++];
    }
    ++at_;
    return token;
  }

  Token string(bool escapes) {
    const std::size_t begin = at_++;
    Token token{.kind = Kind::kString, .value = {}};
    while (true) {
      if (at_ >= body_.size()) unterminated("quoted string", begin);
      if (body_[at_] == '\'' && at(at_ + 1) != '\'') break;
      if (escapes && body_[at_] == '\\') {
        token.value += escaped();
        continue;
      }
      if (body_[at_] == '\'') ++at_;
      token.value += body_[at_++];
    }
    ++at_;
    return token;
  }

  std::string escaped() {
    ++at_;
    const char c = at(at_++);
    switch (c) {
      case 'n':
        return "\n";
      case 't':
        return "\t";
      case 'r':
        return "\r";
      case 'b':
        return "\b";
      case 'f':
        return "\f";
      default:
        return std::string(1, c);
    }
  }

  Token number() {
    const std::size_t begin = at_;
    while (is_digit(at(at_))) ++at_;
    if (at(at_) == '.' && at(at_ + 1) != '.') {
      ++at_;
      while (is_digit(at(at_))) ++at_;
    }
    const bool has_sign = at(at_ + 1) == '+' || at(at_ + 1) == '-';
    if ((at(at_) == 'e' || at(at_) == 'E') && is_digit(at(at_ + (has_sign ? 2 : 1)))) {
      at_ += has_sign ? 2 : 1;
      while (is_digit(at(at_))) ++at_;
    }
    return {.kind = Kind::kNumber, .value = std::string(body_.substr(begin, at_ - begin))};
  }

  /// $1, or a string between $tag$ and $tag$.
  Token dollar() {
    const std::size_t begin = at_++;
    if (is_digit(at(at_))) {
      while (is_digit(at(at_))) ++at_;
      return {.kind = Kind::kParameter, .value = std::string(body_.substr(begin, at_ - begin))};
    }
    while (at(at_) != '$' && continues_word(at(at_))) ++at_;
    if (at(at_) != '$') return {.kind = Kind::kSymbol, .value = std::string(body_.substr(begin, at_ - begin))};
    const std::string_view tag = body_.substr(begin, ++at_ - begin);
    const std::size_t end = body_.find(tag, at_);
    if (end == std::string_view::npos) unterminated("dollar-quoted string", begin);
    Token token{.kind = Kind::kString, .value = std::string(body_.substr(at_, end - at_))};
    at_ = end + tag.size();
    return token;
  }

  Token symbol() {
    const std::string_view two = body_.substr(at_, 2);
    Token token{.kind = Kind::kSymbol, .value = {}};
    if (two == ":=" || two == ".." || two == "::") {
      token.value = two;
    } else if (kOperatorCharacters.find(body_[at_]) != std::string_view::npos) {
      std::size_t end = at_;
      while (end < body_.size() && kOperatorCharacters.find(body_[end]) != std::string_view::npos) {
        if (end > at_ && (body_.substr(end, 2) == "--" || body_.substr(end, 2) == "/*")) break;
        ++end;
      }
      // A sign behind another operator belongs to the operand, unless the operator has one of SQL's rarer characters.
      std::string_view text = body_.substr(at_, end - at_);
      while (text.size() > 1 && (text.back() == '+' || text.back() == '-') && text.find_first_of("~!@#^&|`?%") == std::string_view::npos) {
        text.remove_suffix(1);
      }
      token.value = text;
    } else {
      token.value = body_[at_];
    }
    at_ += token.value.size();
    return token;
  }

  std::string_view body_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> scan(std::string_view body) { return Scanner(body).scan(); }

}  // namespace redquel::parser::plpgsql
