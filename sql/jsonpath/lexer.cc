#include "sql/jsonpath/lexer.h"

#include <algorithm>
#include <cstdint>

#include "sql/functions/characters.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

constexpr std::string_view kBlanks = " \t\n\r\f";
constexpr std::string_view kSpecial = "?%$.[]{}()|&!=<>@#,*:-+/";

/// Returns true for a character that a name may have.
bool is_other(char c) {
  return c != '\0' && c != '\\' && c != '"' && kBlanks.find(c) == std::string_view::npos &&
         kSpecial.find(c) == std::string_view::npos;
}

SqlError surrogate_error(std::string_view detail) {
  return SqlError(sqlstate::kInvalidTextRepresentation, "invalid input syntax for type jsonpath").detail(std::string(detail));
}

}  // namespace

SqlError jsonpath_error(std::string_view message, std::string_view seen) {
  if (seen.empty()) return SqlError(sqlstate::kSyntaxError, std::string(message) + " at end of jsonpath input");
  return SqlError(sqlstate::kSyntaxError, std::string(message) + " at or near \"" + std::string(seen) + "\" of jsonpath input");
}

bool JsonPathToken::is_word(std::string_view word) const {
  if (kind != Kind::kName) return false;
  if (word == "true" || word == "false" || word == "null") return text == word;
  return std::ranges::equal(text, word, {}, to_lower);
}

void JsonPathLexer::skip_blanks() {
  while (!at_end()) {
    if (kBlanks.find(text_[at_]) != std::string_view::npos) {
      ++at_;
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) throw jsonpath_error("unexpected end of comment", "");
      at_ = end + 2;
    } else {
      return;
    }
  }
}

JsonPathToken JsonPathLexer::next() {
  using Kind = JsonPathToken::Kind;
  meter_.add(sizeof(JsonPathToken));
  skip_blanks();
  if (at_end()) return {};
  const char c = peek();
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
  if (c == '"') return string(Kind::kString);
  if (c == '$' && peek(1) == '"') {
    ++at_;
    return string(Kind::kVariable);
  }
  if (c == '$' && (is_other(peek(1)) || peek(1) == '\\')) {
    const std::size_t start = at_++;
    JsonPathToken token = name(Kind::kVariable);
    token.seen = text_.substr(start, at_ - start);
    return token;
  }
  for (const std::string_view operation : {"&&", "||", "**", "<=", ">=", "==", "<>", "!="}) {
    if (text_.substr(at_, 2) != operation) continue;
    at_ += 2;
    return {Kind::kOperator, operation == "!=" ? "<>" : std::string(operation), std::string(operation)};
  }
  if (kSpecial.find(c) != std::string_view::npos) {
    ++at_;
    return {Kind::kOperator, std::string(1, c), std::string(1, c)};
  }
  return name(Kind::kName);
}

JsonPathToken JsonPathLexer::number() {
  const std::size_t start = at_;
  const auto seen = [&] { return text_.substr(start, at_ - start); };
  const auto digits = [&] {
    while (is_digit(peek())) ++at_;
  };
  bool integer = true;
  if (peek() == '0') {
    ++at_;
  } else {
    digits();
  }
  if (peek() == '.') {
    integer = false;
    ++at_;
    digits();
  }
  if (to_lower(peek()) == 'e') {
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if (is_digit(peek(1 + sign))) {
      integer = false;
      at_ += 1 + sign;
      digits();
    } else if (sign == 1) {
      at_ += 2;
      throw jsonpath_error("invalid numeric literal", seen());
    }
  }
  if (is_other(peek())) {
    at_ += character_size(peek());
    throw jsonpath_error("trailing junk after numeric literal", seen());
  }
  return {integer ? JsonPathToken::Kind::kInteger : JsonPathToken::Kind::kNumber, std::string(seen()), std::string(seen())};
}

JsonPathToken JsonPathLexer::name(JsonPathToken::Kind kind) {
  JsonPathToken token{kind, {}, {}};
  std::uint32_t high_surrogate = 0;
  while (is_other(peek()) || peek() == '\\') {
    if (peek() == '\\') {
      escape(token.text, high_surrogate);
    } else {
      token.text.push_back(text_[at_++]);
    }
  }
  // The scanner has just looked at what ended the name.
  if (!at_end() && kBlanks.find(peek()) != std::string_view::npos) token.seen = peek();
  return token;
}

JsonPathToken JsonPathLexer::string(JsonPathToken::Kind kind) {
  JsonPathToken token{kind, {}, "\""};
  std::uint32_t high_surrogate = 0;
  ++at_;
  while (peek() != '"') {
    if (at_end()) throw jsonpath_error("unexpected end of quoted string", "");
    if (peek() == '\\') {
      escape(token.text, high_surrogate);
    } else {
      if (high_surrogate != 0) throw surrogate_error("Unicode low surrogate must follow a high surrogate.");
      token.text.push_back(text_[at_++]);
    }
  }
  if (high_surrogate != 0) throw surrogate_error("Unicode low surrogate must follow a high surrogate.");
  ++at_;
  return token;
}

std::uint32_t JsonPathLexer::hex_digits(std::size_t least, std::size_t most, std::string_view what, std::size_t start) {
  std::uint32_t code = 0;
  std::size_t count = 0;
  for (; count < most && hex_value(peek()) >= 0; ++count) code = code * 16 + static_cast<std::uint32_t>(hex_value(text_[at_++]));
  if (count < least) throw jsonpath_error(what, text_.substr(start, at_ - start));
  return code;
}

/// \b \f \n \r \t \v, \xHH, \uHHHH, \u{H…}; any other character is itself.
void JsonPathLexer::escape(std::string& out, std::uint32_t& high_surrogate) {
  const std::size_t start = at_++;
  if (at_end()) throw jsonpath_error("unexpected end after backslash", "");
  const char c = text_[at_++];
  constexpr std::string_view kLetters = "bfnrtv", kMeaning = "\b\f\n\r\t\v";
  if (c != 'x' && c != 'u') {
    if (high_surrogate != 0) throw surrogate_error("Unicode low surrogate must follow a high surrogate.");
    const std::size_t known = kLetters.find(c);
    out.push_back(known == std::string_view::npos ? c : kMeaning[known]);
    return;
  }
  std::uint32_t code = 0;
  if (c == 'x') {
    code = hex_digits(2, 2, "invalid hex character sequence", start);
  } else if (peek() == '{') {
    ++at_;
    code = hex_digits(1, 6, "invalid unicode sequence", start);
    if (peek() != '}') throw jsonpath_error("invalid unicode sequence", text_.substr(start, at_ - start));
    ++at_;
  } else {
    code = hex_digits(4, 4, "invalid unicode sequence", start);
  }
  if (code == 0) {
    throw SqlError(sqlstate::kUntranslatableCharacter, "unsupported Unicode escape sequence").detail("\\u0000 cannot be converted to text.");
  }
  if (code >= 0xD800 && code < 0xDC00) {
    if (high_surrogate != 0) throw surrogate_error("Unicode high surrogate must not follow a high surrogate.");
    high_surrogate = code;
    return;
  }
  if (code >= 0xDC00 && code < 0xE000) {
    if (high_surrogate == 0) throw surrogate_error("Unicode low surrogate must follow a high surrogate.");
    code = 0x10000 + ((high_surrogate & 0x3FF) << 10) + (code & 0x3FF);
    high_surrogate = 0;
  }
  if (high_surrogate != 0) throw surrogate_error("Unicode low surrogate must follow a high surrogate.");
  if (code > 0x10FFFF) throw jsonpath_error("invalid unicode sequence", text_.substr(start, 2));
  append_code_point(code, out);
}

}  // namespace redquel::sql
