#include "sql/types/shown_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "sql/ascii.h"

namespace redquel::sql {

std::size_t shown_character(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  utf8proc_int32_t code = 0;
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size(), 4)), &code);
  if (size <= 0) return 0;
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return 0;
    default: return static_cast<std::size_t>(size);
  }
}

std::string shown_text(std::string_view bytes, std::size_t most) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t size = shown_character(bytes);
    if (text.size() + std::max<std::size_t>(size, 4) > most) return text + "…";
    if (size == 0) {
      text += "\\x";
      append_hex_byte(text, static_cast<unsigned char>(bytes.front()));
    } else {
      text += bytes.substr(0, size);
    }
    bytes.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return text;
}

}  // namespace redquel::sql
