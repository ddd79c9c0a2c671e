// String functions over text (manual 9.4). Lengths and positions are in characters; letters are those of the C locale.

#include <algorithm>
#include <limits>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/padded_text.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/compare.h"
#include "sql/value_errors.h"

namespace redquel::sql {

void check_text_size(std::size_t bytes) {
  if (bytes > kMaxTextSize) throw SqlError(sqlstate::kProgramLimitExceeded, "requested length too large");
  if (bytes >= kLargeAllocation) check_interrupts();
}

void append_code_point(std::uint32_t code, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::uint32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(character[i])); };
  switch (character_size(character[0])) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
}

namespace {

std::int32_t characters(Text text) { return static_cast<std::int32_t>(utf8_length(text)); }
std::int32_t characters_unpadded(Text text) { return characters(without_trailing_blanks(text)); }
std::int32_t octets(Text text) { return static_cast<std::int32_t>(text.size()); }

void upper(Text text, std::string& out) {
  out.resize(text.size());
  std::ranges::transform(text, out.begin(), to_upper);
}
void lower(Text text, std::string& out) {
  out.resize(text.size());
  std::ranges::transform(text, out.begin(), to_lower);
}
void initcap(Text text, std::string& out) {
  bool inside = false;
  WorkMeter meter;
  for (char c : text) {
    out += inside ? to_lower(c) : to_upper(c);
    inside = is_alphanumeric(c);
    meter.add(1);
  }
}

/// Characters [start, start + length) counted from 1, what lies outside cut off; a negative length is for the caller to
/// refuse.
Text characters_from(Text text, std::int64_t start, std::int64_t length) {
  const std::int64_t end = start + length;
  start = std::max<std::int64_t>(start, 1);
  if (end <= start) return {};
  text.remove_prefix(utf8_prefix(text, static_cast<std::size_t>(start - 1)));
  return text.substr(0, utf8_prefix(text, static_cast<std::size_t>(end - start)));
}
Text substring_to_end(Text text, std::int32_t start) {
  if (start <= 1) return text;
  return text.substr(utf8_prefix(text, static_cast<std::size_t>(start - 1)));
}
[[noreturn]] void throw_negative_length() { throw negative_substring_length(); }
Text substring(Text text, std::int32_t start, std::int32_t length) {
  if (length < 0) throw_negative_length();
  return characters_from(text, start, length);
}

std::int32_t position(Text text, Text part) {
  const std::size_t found = text.find(part);
  return found == Text::npos ? 0 : characters(text.substr(0, found)) + 1;
}

void overlay_length(Text text, Text part, std::int32_t start, std::int32_t length, std::string& out) {
  if (start <= 0) throw_negative_length();
  std::int32_t end;
  if (__builtin_add_overflow(start, length, &end)) throw number_out_of_range("integer");
  out += characters_from(text, 1, start - 1);
  out += part;
  out += substring_to_end(text, end);
}
void overlay(Text text, Text part, std::int32_t start, std::string& out) {
  overlay_length(text, part, start, characters(part), out);
}

/// Returns true if the set holds the character. Both are UTF-8, so a match at a character's start is a match of the character.
bool set_holds(Text set, Text character) { return set.find(character) != Text::npos; }
Text trim_left(Text text, Text set) {
  WorkMeter meter;
  while (!text.empty() && set_holds(set, first_character(text))) {
    text.remove_prefix(character_size(text[0]));
    meter.add(set.size());
  }
  return text;
}
Text trim_right(Text text, Text set) {
  WorkMeter meter;
  while (!text.empty()) {
    meter.add(set.size());
    const std::size_t last = last_character(text);
    if (!set_holds(set, text.substr(last))) break;
    text = text.substr(0, last);
  }
  return text;
}
Text trim_both(Text text, Text set) { return trim_right(trim_left(text, set), set); }
Text trim_left_blanks(Text text) { return trim_left(text, " "); }
Text trim_right_blanks(Text text) { return trim_right(text, " "); }
Text trim_both_blanks(Text text) { return trim_both(text, " "); }

/// `count` characters of fill, over and over.
void append_fill(Text fill, std::size_t count, std::string& out) {
  const std::size_t whole = utf8_length(fill);
  check_text_size(out.size() + (count / whole + 1) * fill.size());
  WorkMeter meter;
  for (std::size_t i = 0; i < count / whole; ++i) {
    out += fill;
    meter.add(fill.size());
  }
  out += fill.substr(0, utf8_prefix(fill, count % whole));
}
/// Returns how many characters padding to `length` must add; cuts the text if it is longer.
std::size_t missing_characters(Text& text, std::int32_t length, Text fill) {
  const auto wanted = static_cast<std::size_t>(std::max(length, 0));
  if (wanted > kMaxTextSize / 4) throw SqlError(sqlstate::kProgramLimitExceeded, "requested length too large");
  const std::size_t given = utf8_length(text);
  if (given >= wanted) {
    text = text.substr(0, utf8_prefix(text, wanted));
    return 0;
  }
  return fill.empty() ? 0 : wanted - given;
}
void pad_left(Text text, std::int32_t length, Text fill, std::string& out) {
  if (const std::size_t missing = missing_characters(text, length, fill)) append_fill(fill, missing, out);
  out += text;
}
void pad_right(Text text, std::int32_t length, Text fill, std::string& out) {
  const std::size_t missing = missing_characters(text, length, fill);
  out += text;
  if (missing > 0) append_fill(fill, missing, out);
}

Text left(Text text, std::int32_t count) {
  if (count >= 0) return text.substr(0, utf8_prefix(text, static_cast<std::size_t>(count)));
  const std::int64_t kept = characters(text) + std::int64_t{count};
  return kept <= 0 ? Text{} : text.substr(0, utf8_prefix(text, static_cast<std::size_t>(kept)));
}
Text right(Text text, std::int32_t count) {
  const std::int64_t skipped = count < 0 ? -std::int64_t{count} : characters(text) - std::int64_t{count};
  return skipped <= 0 ? text : text.substr(utf8_prefix(text, static_cast<std::size_t>(skipped)));
}

void repeat(Text text, std::int32_t count, std::string& out) {
  if (count <= 0 || text.empty()) return;
  check_text_size(text.size() * static_cast<std::size_t>(count));
  out.reserve(text.size() * static_cast<std::size_t>(count));
  WorkMeter meter;
  for (std::int32_t i = 0; i < count; ++i) {
    out += text;
    meter.add(text.size());
  }
}

void replace(Text text, Text from, Text to, std::string& out) {
  if (from.empty()) {
    out += text;
    return;
  }
  WorkMeter meter;
  for (std::size_t found; (found = text.find(from)) != Text::npos; text.remove_prefix(found + from.size())) {
    meter.add(found + from.size() + to.size());
    out += text.substr(0, found);
    out += to;
    check_text_size(out.size());
  }
  out += text;
}

void reverse(Text text, std::string& out) {
  WorkMeter meter;
  while (!text.empty()) {
    meter.add(1);
    const std::size_t last = last_character(text);
    out += text.substr(last);
    text = text.substr(0, last);
  }
}

Text split_part(Text text, Text delimiter, std::int32_t field) {
  if (field == 0) throw SqlError(sqlstate::kInvalidParameterValue, "field position must not be zero");
  if (text.empty()) return {};
  if (delimiter.empty()) return field == 1 || field == -1 ? text : Text{};
  std::int64_t wanted = field;
  if (field < 0) {
    std::int64_t fields = 1;
    WorkMeter meter;
    for (std::size_t at = 0; (at = text.find(delimiter, at)) != Text::npos; at += delimiter.size()) {
      ++fields;
      meter.add(delimiter.size());
    }
    wanted = fields + field + 1;
    if (wanted <= 0) return {};
  }
  std::size_t start = 0;
  WorkMeter meter;
  for (; wanted > 1; --wanted) {
    meter.add(delimiter.size());
    const std::size_t found = text.find(delimiter, start);
    if (found == Text::npos) return {};
    start = found + delimiter.size();
  }
  return text.substr(start, text.find(delimiter, start) - start);
}

void concatenate(Text a, Text b, std::string& out) {
  check_text_size(a.size() + b.size());
  out += a;
  out += b;
}

void chr(std::int32_t code, std::string& out) {
  if (code < 0) throw SqlError(sqlstate::kInvalidParameterValue, "character number must be positive");
  if (code == 0) throw SqlError(sqlstate::kProgramLimitExceeded, "null character not permitted");
  if (code > 0x10FFFF) {
    throw SqlError(sqlstate::kProgramLimitExceeded, "requested character too large for encoding: " + std::to_string(code));
  }
  if (code >= 0xD800 && code <= 0xDFFF) {
    throw SqlError(sqlstate::kProgramLimitExceeded, "requested character not valid for encoding: " + std::to_string(code));
  }
  append_code_point(static_cast<std::uint32_t>(code), out);
}
std::int32_t ascii(Text text) { return text.empty() ? 0 : static_cast<std::int32_t>(code_point(text)); }

void translate(Text text, Text from, Text to, std::string& out) {
  WorkMeter meter;
  while (!text.empty()) {
    meter.add(from.size() + 1);
    const Text character = first_character(text);
    text.remove_prefix(character.size());
    const std::size_t found = from.find(character);
    if (found == Text::npos) {
      out += character;
      continue;
    }
    const std::size_t index = utf8_length(from.substr(0, found));
    const Text rest = to.substr(utf8_prefix(to, index));
    if (!rest.empty()) out += first_character(rest);
  }
}

bool starts_with(Text text, Text prefix) { return text.starts_with(prefix); }

[[noreturn]] void throw_unicode_escape() {
  throw SqlError(sqlstate::kSyntaxError, "invalid Unicode escape")
      .hint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.");
}
/// `digits` hexadecimal digits at the front.
std::optional<std::uint32_t> hex_prefix(Text text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  std::uint32_t value = 0;
  for (char c : text.substr(0, digits)) {
    const char lower = to_lower(c);
    if (c >= '0' && c <= '9') {
      value = value << 4 | static_cast<std::uint32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value << 4 | static_cast<std::uint32_t>(lower - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return value;
}
void unistr(Text text, std::string& out) {
  WorkMeter meter;
  std::uint32_t high = 0;
  const auto check_pair = [&] {
    if (high != 0) throw SqlError(sqlstate::kSyntaxError, "invalid Unicode surrogate pair");
  };
  while (!text.empty()) {
    meter.add(1);
    if (text[0] != '\\' || text.substr(0, 2) == "\\\\") {
      check_pair();
      out += text[0];
      text.remove_prefix(text[0] == '\\' ? 2 : 1);
      continue;
    }
    std::size_t lead = 1, digits = 4;
    if (text.substr(1, 1) == "u") lead = 2;
    if (text.substr(1, 1) == "+") lead = 2, digits = 6;
    if (text.substr(1, 1) == "U") lead = 2, digits = 8;
    const std::optional<std::uint32_t> code = hex_prefix(text.substr(std::min(lead, text.size())), digits);
    if (!code) throw_unicode_escape();
    if (*code == 0 || *code > 0x10FFFF)
      throw SqlError(sqlstate::kInvalidParameterValue, "invalid Unicode code point: " + fmt::format("{:04X}", *code));
    text.remove_prefix(lead + digits);
    if (*code >= 0xD800 && *code <= 0xDBFF) {
      check_pair();
      high = *code;
    } else if (*code >= 0xDC00 && *code <= 0xDFFF) {
      if (high == 0) throw SqlError(sqlstate::kSyntaxError, "invalid Unicode surrogate pair");
      append_code_point(((high & 0x3FF) << 10) + 0x10000 + (*code & 0x3FF), out);
      high = 0;
    } else {
      check_pair();
      append_code_point(*code, out);
    }
  }
  check_pair();
}

}  // namespace

std::vector<ScalarFunction> string_functions() {
  return {
      scalar<characters>("length", {kText}, kInt4),
      scalar<characters_unpadded>("length", {kBpchar}, kInt4),
      scalar<characters>("char_length", {kText}, kInt4),
      scalar<characters_unpadded>("char_length", {kBpchar}, kInt4),
      scalar<characters>("character_length", {kText}, kInt4),
      scalar<characters_unpadded>("character_length", {kBpchar}, kInt4),
      scalar<octets>("octet_length", {kText}, kInt4),
      column_function("octet_length", {kBpchar}, kInt4, over_padded<kernel_of<octets>()>, Volatility::kImmutable, true),
      scalar<[](Text text) { return octets(text) * 8; }>("bit_length", {kText}, kInt4),
      scalar<upper>("upper", {kText}, kText),
      scalar<lower>("lower", {kText}, kText),
      scalar<initcap>("initcap", {kText}, kText),
      scalar<substring_to_end>("substr", {kText, kInt4}, kText),
      scalar<substring>("substr", {kText, kInt4, kInt4}, kText),
      scalar<substring_to_end>("substring", {kText, kInt4}, kText),
      scalar<substring>("substring", {kText, kInt4, kInt4}, kText),
      scalar<position>("position", {kText, kText}, kInt4),
      scalar<position>("strpos", {kText, kText}, kInt4),
      scalar<overlay>("overlay", {kText, kText, kInt4}, kText),
      scalar<overlay_length>("overlay", {kText, kText, kInt4, kInt4}, kText),
      scalar<trim_both_blanks>("btrim", {kText}, kText),
      scalar<trim_both>("btrim", {kText, kText}, kText),
      scalar<trim_left_blanks>("ltrim", {kText}, kText),
      scalar<trim_left>("ltrim", {kText, kText}, kText),
      scalar<trim_right_blanks>("rtrim", {kText}, kText),
      scalar<trim_right>("rtrim", {kText, kText}, kText),
      scalar<[](Text text, std::int32_t length, std::string& out) { pad_left(text, length, " ", out); }>(
          "lpad", {kText, kInt4}, kText),
      scalar<pad_left>("lpad", {kText, kInt4, kText}, kText),
      scalar<[](Text text, std::int32_t length, std::string& out) { pad_right(text, length, " ", out); }>(
          "rpad", {kText, kInt4}, kText),
      scalar<pad_right>("rpad", {kText, kInt4, kText}, kText),
      scalar<left>("left", {kText, kInt4}, kText),
      scalar<right>("right", {kText, kInt4}, kText),
      scalar<repeat>("repeat", {kText, kInt4}, kText),
      scalar<replace>("replace", {kText, kText, kText}, kText),
      scalar<reverse>("reverse", {kText}, kText),
      scalar<split_part>("split_part", {kText, kText, kInt4}, kText),
      scalar<concatenate>("||", {kText, kText}, kText),
      scalar<chr>("chr", {kInt4}, kText),
      scalar<ascii>("ascii", {kText}, kInt4),
      scalar<translate>("translate", {kText, kText, kText}, kText),
      scalar<starts_with>("starts_with", {kText, kText}, kBool),
      scalar<starts_with>("^@", {kText, kText}, kBool),
      scalar<unistr>("unistr", {kText}, kText),
  };
}

}  // namespace redquel::sql
