#include <fmt/format.h>

#include <vector>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/value_errors.h"

// json keeps its text; input only checks it. The checker walks with a stack of its own, so that depth costs no C stack.
namespace redquel::sql {
namespace {

constexpr std::size_t kMaxDepth = 6000;

class JsonChecker {
 public:
  explicit JsonChecker(std::string_view text) : text_(text) {}

  void check() {
    next();
    value();
    while (!open_.empty()) {
      if (open_.back() == '[') {
        after_element(']', "Expected \",\" or \"]\", but found \"{}\".", [this] { value(); });
      } else {
        after_element('}', "Expected \",\" or \"}}\", but found \"{}\".", [this] {
          if (token_ != Token::kString) unexpected("Expected string, but found \"{}\".");
          member();
        });
      }
    }
    if (token_ != Token::kEnd) unexpected("Expected end of input, but found \"{}\".");
  }

 private:
  enum class Token { kEnd, kString, kScalar, kPunctuation };

  [[noreturn]] void fail(std::string detail) const {
    throw SqlError(sqlstate::kInvalidTextRepresentation, "invalid input syntax for type json").detail(std::move(detail)).context(context());
  }

  /// The end of what was read of the current line: at most some 50 characters.
  std::string context() const {
    std::size_t start = line_start_;
    while (at_ - start >= 50) start += character_size(text_[start]);
    if (start - line_start_ <= 3) start = line_start_;
    const bool cut = token_ != Token::kEnd && at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r';
    return fmt::format("JSON data, line {}: {}{}{}", line_, start > line_start_ ? "..." : "",
                       text_.substr(start, at_ - start), cut ? "..." : "");
  }

  [[noreturn]] void unexpected(fmt::string_view format) const {
    if (token_ == Token::kEnd) fail("The input string ended unexpectedly.");
    fail(fmt::format(fmt::runtime(format), lexeme_));
  }

  bool is(char punctuation) const { return token_ == Token::kPunctuation && lexeme_[0] == punctuation; }

  template <class Continue>
  void after_element(char close, fmt::string_view expected, Continue next_element) {
    if (is(close)) {
      open_.pop_back();
      next();
    } else if (is(',')) {
      next();
      next_element();
    } else {
      unexpected(expected);
    }
  }

  /// A value up to where it opens an array or object.
  void value() {
    for (;;) {
      if (token_ == Token::kString || token_ == Token::kScalar) return next();
      if (is('[')) {
        open('[');
        if (is(']')) return open_.pop_back(), next();
        continue;
      }
      if (is('{')) {
        open('{');
        if (is('}')) return open_.pop_back(), next();
        if (token_ != Token::kString) unexpected("Expected string or \"}}\", but found \"{}\".");
        return member();
      }
      unexpected("Expected JSON value, but found \"{}\".");
    }
  }

  void member() {
    next();
    if (!is(':')) unexpected("Expected \":\", but found \"{}\".");
    next();
    value();
  }

  void open(char bracket) {
    if (open_.size() >= kMaxDepth) {
      throw stack_depth_exceeded()
          .hint(
              "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the "
              "platform's stack depth limit is adequate.");
    }
    open_.push_back(bracket);
    next();
  }

  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80) != 0;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  char peek(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  void next() {
    const std::size_t before = at_;
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      if (text_[at_++] == '\n') ++line_, line_start_ = at_;
    }
    const std::size_t start = at_;
    if (at_ == text_.size()) {
      token_ = Token::kEnd;
      lexeme_ = {};
      return;
    }
    const char c = text_[at_];
    if (c == '"') {
      string();
      token_ = Token::kString;
    } else if (c == '-' || is_digit(c)) {
      number();
      token_ = Token::kScalar;
    } else if (std::string_view("{}[],:").find(c) != std::string_view::npos) {
      ++at_;
      token_ = Token::kPunctuation;
    } else {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      if (at_ == start) ++at_;
      const std::string_view word = text_.substr(start, at_ - start);
      if (word != "true" && word != "false" && word != "null") fail(fmt::format("Token \"{}\" is invalid.", word));
      token_ = Token::kScalar;
    }
    lexeme_ = text_.substr(start, at_ - start);
    meter_.add(at_ - before);
  }

  void number() {
    const std::size_t start = at_;
    bool valid = true;
    if (peek(at_) == '-') ++at_;
    if (peek(at_) == '0') {
      ++at_;
    } else if (is_digit(peek(at_))) {
      while (is_digit(peek(at_))) ++at_;
    } else {
      valid = false;
    }
    if (peek(at_) == '.') {
      ++at_;
      valid = valid && is_digit(peek(at_));
      while (is_digit(peek(at_))) ++at_;
    }
    if (peek(at_) == 'e' || peek(at_) == 'E') {
      ++at_;
      if (peek(at_) == '+' || peek(at_) == '-') ++at_;
      valid = valid && is_digit(peek(at_));
      while (is_digit(peek(at_))) ++at_;
    }
    while (at_ < text_.size() && is_word(text_[at_])) ++at_, valid = false;
    if (!valid) fail(fmt::format("Token \"{}\" is invalid.", text_.substr(start, at_ - start)));
  }

  [[noreturn]] void ends_inside(std::size_t start) {
    at_ = text_.size();
    fail(fmt::format("Token \"{}\" is invalid.", text_.substr(start)));
  }

  void string() {
    const std::size_t start = at_++;
    for (;;) {
      if (at_ >= text_.size()) ends_inside(start);
      const char c = text_[at_];
      if (c == '"') break;
      if (static_cast<unsigned char>(c) < 0x20)
        fail(fmt::format("Character with value 0x{:02x} must be escaped.", static_cast<unsigned char>(c)));
      if (c != '\\') {
        ++at_;
        continue;
      }
      const char escaped = peek(at_ + 1);
      if (at_ + 1 >= text_.size()) ends_inside(start);
      if (escaped == 'u') {
        at_ += 2;
        for (std::size_t i = 0; i < 4; ++i, ++at_) {
          if (at_ >= text_.size()) ends_inside(start);
          const char digit = text_[at_];
          if (is_digit(digit) || (digit >= 'a' && digit <= 'f') || (digit >= 'A' && digit <= 'F')) continue;
          at_ += character_size(digit);
          fail("\"\\u\" must be followed by four hexadecimal digits.");
        }
      } else if (std::string_view("\"\\/bfnrt").find(escaped) != std::string_view::npos) {
        at_ += 2;
      } else {
        const std::string_view rest = text_.substr(at_ + 1);
        at_ += 1 + utf8_prefix(rest, 1);
        fail(fmt::format("Escape sequence \"\\{}\" is invalid.", rest.substr(0, utf8_prefix(rest, 1))));
      }
    }
    ++at_;
  }

  std::string_view text_, lexeme_;
  std::size_t at_ = 0, line_start_ = 0, line_ = 1;
  WorkMeter meter_;
  Token token_ = Token::kEnd;
  std::vector<char> open_;
};

}  // namespace

void check_json(std::string_view text) { JsonChecker(text).check(); }

}  // namespace redquel::sql
