#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/ascii.h"

namespace redquel::sql {

// Walking over valid UTF-8.

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

/// 54000 beyond the largest value that PostgreSQL would build (1 GB).
void check_text_size(std::size_t bytes);
inline constexpr std::size_t kMaxTextSize = 0x3fffffff - 4;

void append_code_point(std::uint32_t code, std::string& out);
std::uint32_t code_point(std::string_view character);

}  // namespace redquel::sql
