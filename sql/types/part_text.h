#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "sql/ascii.h"

namespace redquel::sql {

// Fields of rows and bounds of ranges as their texts have them: bare, or in quotes where "" is a quote and \x is x.

/// The characters between the fields of rows and around them.
inline constexpr std::string_view kRowSigns = "(),";

/// The part that begins at `at`, which moves to the sign outside of quotes that ends it; `fail` throws where the text is over before.
template <typename Ends, typename Fail>
std::string read_part(std::string_view text, std::size_t& at, Ends ends, Fail fail) {
  std::string part;
  bool quoted = false;
  const auto next = [&] { return at < text.size() ? text[at++] : (fail("Unexpected end of input."), '\0'); };
  while (quoted || at >= text.size() || !ends(text[at])) {
    const std::size_t first = at;
    while (at < text.size() && is_alphanumeric(text[at])) ++at;
    part += text.substr(first, at - first);
    if (at > first) continue;
    const char c = next();
    if (c == '\\') {
      part += next();
    } else if (c == '"' && quoted && at < text.size() && text[at] == '"') {
      part += next();
    } else if (c == '"') {
      quoted = !quoted;
    } else {
      part += c;
    }
  }
  return part;
}

/// In quotes where it is empty or has blanks, quotes, backslashes or one of the signs.
inline void append_part(std::string_view part, std::string_view signs, std::string& out) {
  const auto needs_quotes = [&](char c) {
    return !is_alphanumeric(c) && (c == '"' || c == '\\' || is_blank(c) || signs.find(c) != std::string_view::npos);
  };
  if (!part.empty() && std::ranges::none_of(part, needs_quotes)) {
    out += part;
    return;
  }
  out += '"';
  for (const char c : part) {
    if (c == '"' || c == '\\') out += c;
    out += c;
  }
  out += '"';
}

}  // namespace redquel::sql
