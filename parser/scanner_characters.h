#pragma once

#include <string_view>

namespace redquel::parser {

// Characters as PostgreSQL's scanner takes them (scan.l).

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
constexpr bool is_identifier_part(char c) { return is_identifier_start(c) || is_digit(c) || c == '$'; }
constexpr bool is_operator_character(char c) { return std::string_view("~!@#^&|`?+-*/%<>=:").find(c) != std::string_view::npos; }

}  // namespace redquel::parser
