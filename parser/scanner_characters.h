#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace redquel::parser {

// Characters as PostgreSQL's scanner takes them (scan.l).

namespace character {

enum Class : std::uint8_t { kSpace = 1, kDigit = 2, kIdentifierStart = 4, kOperator = 8, kPunctuation = 16 };

inline constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  const auto add = [&](std::string_view characters, Class added) {
    for (const char c : characters) classes[static_cast<unsigned char>(c)] |= added;
  };
  add(" \t\n\r\f", kSpace);
  add("0123456789", kDigit);
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", kIdentifierStart);
  for (unsigned byte = 0x80; byte < 0x100; ++byte) classes[byte] |= kIdentifierStart;
  add("~!@#^&|`?+-*/%<>=:", kOperator);
  add("()[],;.", kPunctuation);
  return classes;
}();

constexpr bool is(char c, unsigned classes) { return (kClasses[static_cast<unsigned char>(c)] & classes) != 0; }

}  // namespace character

constexpr bool is_space(char c) { return character::is(c, character::kSpace); }
constexpr bool is_digit(char c) { return character::is(c, character::kDigit); }
constexpr bool is_identifier_start(char c) { return character::is(c, character::kIdentifierStart); }
constexpr bool is_identifier_part(char c) { return is_identifier_start(c) || is_digit(c) || c == '$'; }
constexpr bool is_operator_character(char c) { return character::is(c, character::kOperator); }
constexpr bool is_punctuation(char c) { return character::is(c, character::kPunctuation); }

}  // namespace redquel::parser
