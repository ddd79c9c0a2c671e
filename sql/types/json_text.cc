#include "sql/types/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

constexpr std::string_view kBlanks = " \t\n\r";

bool is_json_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Behind the string that begins at `at`.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

std::uint32_t hex_digits(std::string_view digits) {
  std::uint32_t code = 0;
  for (const char c : digits) {
    code = code * 16 + static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return code;
}

SqlError invalid_json(std::string detail) {
  return SqlError(sqlstate::kInvalidTextRepresentation, "invalid input syntax for type json").detail(std::move(detail));
}

/// Puts \u escapes together: surrogates come in pairs.
class CodePoints {
 public:
  void add(std::uint32_t code, std::string& out) {
    if (code >= 0xD800 && code < 0xDC00) {
      if (high_ != 0) throw invalid_json("Unicode high surrogate must not follow a high surrogate.");
      high_ = code;
      return;
    }
    if (code >= 0xDC00 && code < 0xE000) {
      if (high_ == 0) expect_low();
      code = 0x10000 + ((high_ & 0x3FF) << 10) + (code & 0x3FF);
      high_ = 0;
    }
    if (high_ != 0) expect_low();
    if (code == 0) {
      throw SqlError(sqlstate::kUntranslatableCharacter, "unsupported Unicode escape sequence").detail("\\u0000 cannot be converted to text.");
    }
    append_code_point(code, out);
  }
  void other() const {
    if (high_ != 0) expect_low();
  }

 private:
  [[noreturn]] static void expect_low() { throw invalid_json("Unicode low surrogate must follow a high surrogate."); }

  std::uint32_t high_ = 0;
};

char unescaped(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;  // " \ /
  }
}

}  // namespace

std::size_t json_value_end(std::string_view text, std::size_t at) {
  if (text[at] == '"') return string_end(text, at);
  if (text[at] != '[' && text[at] != '{') return std::min(text.find_first_of(",]}: \t\n\r", at), text.size());
  std::size_t depth = 0;
  WorkMeter meter;
  while (true) {
    switch (text[at]) {
      case '"': {
        const std::size_t start = at;
        at = string_end(text, at);
        meter.add(at - start);
        continue;
      }
      case '[':
      case '{':
        ++depth;
        break;
      case ']':
      case '}':
        if (--depth == 0) return at + 1;
        break;
      default:
        break;
    }
    ++at;
    meter.add(1);
  }
}

std::string_view json_value(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

JsonKind json_kind(std::string_view value) {
  switch (value[0]) {
    case '{':
      return JsonKind::kObject;
    case '[':
      return JsonKind::kArray;
    case '"':
      return JsonKind::kString;
    case 't':
    case 'f':
      return JsonKind::kBoolean;
    case 'n':
      return JsonKind::kNull;
    default:
      return JsonKind::kNumber;
  }
}

std::string_view json_kind_name(JsonKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"null", "string", "number", "boolean", "array", "object"};
  return kNames[static_cast<std::size_t>(kind)];
}

JsonReader::JsonReader(std::string_view container) : text_(container) { assert(is_json_container(container)); }

void JsonReader::skip_blanks() {
  while (is_json_blank(text_[at_])) ++at_;
}

std::string_view JsonReader::take() {
  const std::size_t start = at_;
  at_ = json_value_end(text_, at_);
  return text_.substr(start, at_ - start);
}

bool JsonReader::next() {
  skip_blanks();
  if (text_[at_] == ',') ++at_, skip_blanks();
  if (text_[at_] == ']' || text_[at_] == '}') return false;
  if (text_[0] == '{') {
    key_ = take();
    skip_blanks();
    ++at_;  // the colon
    skip_blanks();
  }
  value_ = take();
  return true;
}

std::size_t json_count(std::string_view container) {
  std::size_t count = 0;
  for (JsonReader reader(container); reader.next();) ++count;
  return count;
}

std::string_view json_string(std::string_view quoted, std::string& buffer) {
  const std::string_view inner = quoted.substr(1, quoted.size() - 2);
  if (inner.find('\\') == std::string_view::npos) return inner;
  buffer.clear();
  CodePoints codes;
  for (std::size_t at = 0; at < inner.size();) {
    if (inner[at] != '\\') {
      codes.other();
      buffer.push_back(inner[at++]);
    } else if (inner[at + 1] == 'u') {
      codes.add(hex_digits(inner.substr(at + 2, 4)), buffer);
      at += 6;
    } else {
      codes.other();
      buffer.push_back(unescaped(inner[at + 1]));
      at += 2;
    }
  }
  codes.other();
  return buffer;
}

void check_json_escapes(std::string_view value) {
  if (value.find("\\u") == std::string_view::npos) return;
  std::string buffer;
  for (std::size_t at = 0; (at = value.find('"', at)) != std::string_view::npos;) {
    const std::size_t end = string_end(value, at);
    json_string(value.substr(at, end - at), buffer);
    at = end;
  }
}

void append_json_string(std::string_view text, std::string& out) {
  out.push_back('"');
  std::size_t written = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out += text.substr(written, at - written);
    written = at + 1;
    constexpr std::string_view kPlain = "\b\f\n\r\t\"\\", kLetters = "bfnrt\"\\";
    const std::size_t known = kPlain.find(c);
    if (known != std::string_view::npos) {
      out.push_back('\\');
      out.push_back(kLetters[known]);
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
    }
  }
  out += text.substr(written);
  out.push_back('"');
}

}  // namespace redquel::sql
