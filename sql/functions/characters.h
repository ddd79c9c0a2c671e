#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redquel::sql {

// Walking over valid UTF-8, and the C locale's letters.

/// Bytes of the character that begins with this byte.
inline std::size_t character_size(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}
inline std::string_view first_character(std::string_view text) { return text.substr(0, character_size(text[0])); }
/// Start of the last character of a text that is not empty.
inline std::size_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

inline char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
inline char to_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
inline bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// 54000 beyond the largest value that PostgreSQL would build (1 GB).
void check_text_size(std::size_t bytes);
inline constexpr std::size_t kMaxTextSize = 0x3fffffff - 4;

void append_code_point(std::uint32_t code, std::string& out);
std::uint32_t code_point(std::string_view character);

}  // namespace redquel::sql
