#pragma once

#include <string>
#include <string_view>

#include "sql/ascii.h"

namespace redquel::server {

// Letter case of ASCII alone, regardless of the locale: parameter names, key words, encoding names.

using sql::to_lower;

constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = to_lower(c);
  return result;
}

constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && sql::is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && sql::is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace redquel::server
