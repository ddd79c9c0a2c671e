#include "sql/catalog/key_pattern.h"

namespace redquel::sql {
namespace {

void append_literal(std::string& glob, char c) {
  if (std::string_view("*?[]\\^").find(c) != std::string_view::npos) glob += '\\';
  glob += c;
}

}  // namespace

std::optional<std::string> glob_of_like(std::string_view pattern) {
  std::string glob;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%') {
      glob += '*';
    } else if (pattern[i] == '_') {
      glob += "?*";
    } else if (pattern[i] == '\\') {
      if (++i == pattern.size()) return std::nullopt;
      append_literal(glob, pattern[i]);
    } else {
      append_literal(glob, pattern[i]);
    }
  }
  return glob;
}

std::string glob_of_text(std::string_view text) {
  std::string glob;
  for (const char c : text) append_literal(glob, c);
  return glob;
}

}  // namespace redquel::sql
